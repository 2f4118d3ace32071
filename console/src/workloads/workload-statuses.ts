import type { AppInstance, AppStatus } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

interface StatusLook {
  label: string;
  tone: Tone;
  /** In transition to another status. */
  moving: boolean;
}

export const WORKLOAD_STATUSES: Record<AppStatus, StatusLook> = {
  created: { label: 'Waiting', tone: 'neutral', moving: true },
  starting: { label: 'Starting', tone: 'info', moving: true },
  running: { label: 'Running', tone: 'success', moving: false },
  stopping: { label: 'Stopping', tone: 'warn', moving: true },
  stopped: { label: 'Stopped', tone: 'neutral', moving: false },
  failed: { label: 'Failed', tone: 'danger', moving: false },
  succeeded: { label: 'Succeeded', tone: 'success', moving: false },
};

export function hasEnded({ ended_at: endedAt }: Pick<AppInstance, 'ended_at'>): boolean {
  return endedAt !== null;
}

/** Why an instance cannot be stopped; null when it can. */
export function stopBlocker(instance: Pick<AppInstance, 'ended_at' | 'desired'>): string | null {
  if (hasEnded(instance)) return 'It has ended.';
  return instance.desired === 'stop' ? 'It is being stopped.' : null;
}
