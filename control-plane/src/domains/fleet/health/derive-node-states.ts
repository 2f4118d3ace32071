import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Cordon, CordonReason } from '../nodes/cordons.ts';
import type { ObservedNode } from './record-heartbeat.ts';

export type NodeStates = components['schemas']['NodeStates'];
export type Connection = components['schemas']['Node']['connection'];

export interface NodeStatesInput {
  draining: boolean;
  connection: Connection;
  cordons: readonly Pick<Cordon, 'reason'>[];
  observed: ObservedNode;
  /** Kinds of the tasks that have not ended, oldest first. */
  openTasks: readonly { kind: string; state: string }[];
  projected: { posture: components['schemas']['Posture']; projectedAt: Date } | null;
}

/** Cordons that a host's own evidence caused; the others are an operator's wish. */
const BY_EVIDENCE: readonly CordonReason[] = ['gpu_missing', 'gpu_unhealthy', 'agent_outdated', 'not_ready'];

/** Desired, observed, execution and projected state of a host, each from its own source. */
export function deriveNodeStates(input: NodeStatesInput): NodeStates {
  const { projected } = input;
  return {
    desired: desiredOf(input),
    observed: observedOf(input),
    execution: executionOf(input),
    projected: projected && {
      posture: projected.posture,
      projected_at: projected.projectedAt.toISOString(),
    },
  };
}

function desiredOf({ draining, cordons }: NodeStatesInput): NodeStates['desired'] {
  if (cordons.some(({ reason }) => reason === 'maintenance')) return 'maintenance';
  return draining ? 'draining' : 'in_service';
}

function observedOf({ connection, cordons, observed }: NodeStatesInput): NodeStates['observed'] {
  if (connection !== 'connected') return connection;
  const failing = observed.gpus?.some(({ state }) => state !== 'ok') ?? false;
  return failing || cordons.some(({ reason }) => BY_EVIDENCE.includes(reason)) ? 'degraded' : 'healthy';
}

function executionOf({ openTasks }: NodeStatesInput): string {
  const running = openTasks.find(({ state }) => state === 'claimed');
  return running?.kind ?? (openTasks.length > 0 ? 'queued' : 'idle');
}
