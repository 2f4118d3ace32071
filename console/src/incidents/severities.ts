import type { Incident } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

export const SEVERITIES: Record<Incident['severity'], Tone> = {
  critical: 'danger',
  major: 'warn',
  minor: 'neutral',
};

export const INCIDENT_STATES: Record<Incident['state'], { label: string; tone: Tone }> = {
  open: { label: 'Open', tone: 'danger' },
  acknowledged: { label: 'Acknowledged', tone: 'warn' },
  resolved: { label: 'Resolved', tone: 'success' },
};

export function seen(occurrences: number): string {
  return occurrences === 1 ? 'once' : `${occurrences.toLocaleString('en-US')} times`;
}
