import type { Policy } from '../api/types.ts';
import type { Tone } from '../ui/tone.ts';

/** Where a value that holds comes from, in the order in which one overrides the other. */
export const SOURCES: Record<Policy['source'], { label: string; tone: Tone }> = {
  default: { label: 'Default', tone: 'neutral' },
  global: { label: 'Platform', tone: 'info' },
  tenant: { label: 'Tenant', tone: 'violet' },
  project: { label: 'Project', tone: 'success' },
};
