import type { NodeTask } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

export const TASK_STATES: Record<NodeTask['state'], { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'neutral' },
  claimed: { label: 'Running', tone: 'info' },
  succeeded: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  expired: { label: 'Expired', tone: 'danger' },
};

export function isTaskActive({ state }: NodeTask): boolean {
  return state === 'queued' || state === 'claimed';
}

/** The error, or what the host last reported; progress that is over says nothing. */
export function lastMessage({ error, message, state }: NodeTask): string {
  return error?.detail ?? (state === 'succeeded' ? 'Completed' : (message ?? '—'));
}
