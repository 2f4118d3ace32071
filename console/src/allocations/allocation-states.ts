import type { AllocationState, FourStates } from '../api/types.ts';
import type { Tone } from '../ui/tone.ts';

interface StateLook {
  label: string;
  tone: Tone;
  /** Still on its way to somewhere else. */
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

export const DESIRED_WORDS: Record<FourStates['desired'], string> = {
  active: 'You want it running.',
  released: 'You want it wiped and given back.',
};

export const OBSERVED_WORDS: Record<FourStates['observed'], string> = {
  unknown: 'No evidence from the host yet.',
  absent: 'The host reports no machine.',
  running: 'The host reports the machine running.',
};

/** Why an allocation in this state cannot be released; null when it can. */
export const RELEASE_REFUSALS: Record<AllocationState, string | null> = {
  queued: null,
  reserved: null,
  provisioning: null,
  active: null,
  releasing: 'It is being released already.',
  released: 'It was released.',
  failed: 'Provisioning failed; its slots are cleaned without you.',
  release_failed: null,
};
