import type { Spend } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

/** Balance status of a tenant. */
export const BALANCE_STATUS: Record<Spend['standing'], { label: string; tone: Tone }> = {
  good: { label: 'Healthy', tone: 'success' },
  low: { label: 'Low', tone: 'warn' },
  exhausted: { label: 'Used up', tone: 'danger' },
  stopped: { label: 'Stopped', tone: 'danger' },
};
