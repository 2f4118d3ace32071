import type { AllocationState, FourStates } from '../api/types.ts';
import type { Tone } from '../ui/values/tone.ts';

interface StateLook {
  label: string;
  tone: Tone;
  /** In transition to another state. */
  moving: boolean;
}

export const ALLOCATION_STATES: Record<AllocationState, StateLook> = {
  queued: { label: 'Queued', tone: 'neutral', moving: true },
  reserved: { label: 'Reserved', tone: 'violet', moving: true },
  provisioning: { label: 'Provisioning', tone: 'info', moving: true },
  active: { label: 'Active', tone: 'success', moving: false },
  releasing: { label: 'Releasing', tone: 'warn', moving: true },
  released: { label: 'Released', tone: 'neutral', moving: false },
  failed: { label: 'Failed', tone: 'danger', moving: false },
  release_failed: { label: 'Release failed', tone: 'danger', moving: false },
};

export const DESIRED_LABELS: Record<FourStates['desired'], string> = {
  active: 'Should be running.',
  released: 'Should be wiped and released.',
};

export const OBSERVED_LABELS: Record<FourStates['observed'], string> = {
  unknown: 'No current report from the host.',
  absent: 'The host reports no machine.',
  running: 'The host reports the machine running.',
};

/** Why an allocation in this state cannot be released; null when it can. */
export const RELEASE_BLOCKERS: Record<AllocationState, string | null> = {
  queued: null,
  reserved: null,
  provisioning: null,
  active: null,
  releasing: 'Already being released.',
  released: 'Already released.',
  failed: 'Launch failed; its slots are cleaned up automatically.',
  release_failed: null,
};
