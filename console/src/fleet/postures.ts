import type { Node, Posture } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

interface Look {
  label: string;
  tone: Tone;
}

export const POSTURES: Record<Posture, Look> = {
  fully_available: { label: 'Fully available', tone: 'success' },
  partially_allocated: { label: 'Partially allocated', tone: 'info' },
  fully_allocated_by_slices: { label: 'Fully allocated by slices', tone: 'info' },
  exclusively_allocated_by_baremetal: { label: 'Allocated as bare metal', tone: 'violet' },
  draining: { label: 'Draining', tone: 'warn' },
  cleanup_blocked: { label: 'Cleanup blocked', tone: 'danger' },
  unavailable: { label: 'Unavailable', tone: 'neutral' },
};

export const CONNECTIONS: Record<Node['connection'], Look> = {
  connected: { label: 'Connected', tone: 'success' },
  unreachable: { label: 'Unreachable', tone: 'danger' },
  never_seen: { label: 'Never seen', tone: 'neutral' },
};
