import type { Policy } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

/** Sources of an effective value, in the order in which one overrides the other. */
export const VALUE_SOURCES: Record<Policy['source'], { label: string; tone: Tone }> = {
  default: { label: 'Default', tone: 'neutral' },
  global: { label: 'Platform', tone: 'info' },
  tenant: { label: 'Tenant', tone: 'violet' },
  project: { label: 'Project', tone: 'success' },
};
