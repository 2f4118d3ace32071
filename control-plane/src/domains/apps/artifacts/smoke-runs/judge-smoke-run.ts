import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { InstanceRow } from '../../instances/record-event.ts';

/** What a smoke run is judged by. */
export interface SmokeFacts {
  instance: Pick<InstanceRow, 'kind' | 'status' | 'ending' | 'reason' | 'gate'>;
  /** The manifest has a readiness probe, so that a service counts only when it was healthy. */
  hasProbe: boolean;
  wasHealthy: boolean;
  hasStarted: boolean;
  /** Message of its last event with a reason. */
  lastMessage: string | null;
  isOverdue: boolean;
}

export interface SmokeFinding {
  state: 'running' | 'passed' | 'failed';
  reason: AppReason | null;
  message: string;
}

/** A service passes when it became healthy, a job when it succeeded; the reason of its instance is that of a failure. */
export function judgeSmokeRun(facts: SmokeFacts): SmokeFinding {
  const { instance, hasProbe, wasHealthy, hasStarted, lastMessage, isOverdue } = facts;
  const { kind, status, ending, reason, gate } = instance;
  if (kind === 'job' && status === 'succeeded')
    return { state: 'passed', reason: null, message: 'The job succeeded.' };
  if (kind === 'service' && wasHealthy)
    return { state: 'passed', reason: null, message: 'The service became healthy.' };
  if (kind === 'service' && !hasProbe && hasStarted)
    return { state: 'passed', reason: null, message: 'The service started; its manifest has no probe.' };
  if (ending === 'failed' || ending === 'stopped' || status === 'failed' || status === 'stopped')
    return { state: 'failed', reason: reason ?? 'executor_error', message: lastMessage ?? 'It ended early.' };
  if (status === 'succeeded')
    return { state: 'failed', reason: 'probe_failed', message: 'The service ended before it was healthy.' };
  if (isOverdue)
    return {
      state: 'failed',
      reason: gate?.reason ?? 'deadline',
      message: gate?.message ?? 'It did not pass in time.',
    };
  return { state: 'running', reason: gate?.reason ?? null, message: gate?.message ?? `It is ${status}.` };
}
