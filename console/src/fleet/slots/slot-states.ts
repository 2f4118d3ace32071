import type { SlotState } from '../../api/types.ts';
import type { Tone } from '../../ui/values/tone.ts';

interface SlotLook {
  label: string;
  tone: Tone;
  /** States differ in fill as well as in colour. */
  fill: string;
}

/** How each slot state is named and drawn, in the order a legend lists them. */
export const SLOT_STATES: Record<SlotState, SlotLook> = {
  available: { label: 'Available', tone: 'success', fill: 'border-tone/70 bg-tone/15' },
  reserved: {
    label: 'Reserved',
    tone: 'violet',
    fill: 'border-tone bg-[linear-gradient(135deg,color-mix(in_oklab,var(--tone)_85%,transparent)_50%,color-mix(in_oklab,var(--tone)_20%,transparent)_50%)]',
  },
  in_use: { label: 'In use', tone: 'info', fill: 'border-tone bg-tone' },
  cleaning: {
    label: 'Cleaning',
    tone: 'warn',
    fill: 'border-tone bg-[repeating-linear-gradient(135deg,color-mix(in_oklab,var(--tone)_75%,transparent)_0_3px,color-mix(in_oklab,var(--tone)_15%,transparent)_3px_6px)]',
  },
  cleanup_blocked: {
    label: 'Cleanup blocked',
    tone: 'danger',
    fill: 'border-tone bg-[repeating-linear-gradient(90deg,var(--tone)_0_2px,color-mix(in_oklab,var(--tone)_25%,transparent)_2px_5px)]',
  },
  disabled: { label: 'Disabled', tone: 'neutral', fill: 'border-dashed border-tone bg-transparent' },
};

export const SLOT_STATE_ORDER: SlotState[] = [
  'in_use',
  'reserved',
  'cleaning',
  'cleanup_blocked',
  'available',
  'disabled',
];
