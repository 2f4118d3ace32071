import type { Spend } from '../api/types.ts';
import type { Tone } from '../ui/tone.ts';

/** How a tenant stands with its money. */
export const STANDINGS: Record<Spend['standing'], { label: string; tone: Tone }> = {
  good: { label: 'Enough', tone: 'success' },
  low: { label: 'Low', tone: 'warn' },
  exhausted: { label: 'Used up', tone: 'danger' },
  stopped: { label: 'Stopped', tone: 'danger' },
};
