import type { ReactNode } from 'react';
import { TONE_CLASS, type Tone } from './tone.ts';

interface BadgeProps {
  tone: Tone;
  children: ReactNode;
  /** The dot pulses during a transition. */
  moving?: boolean;
}

export function Badge({ tone, children, moving }: BadgeProps) {
  return (
    <span
      className={`${TONE_CLASS[tone]} inline-flex items-center gap-1.5 rounded-full border border-tone/35 bg-tone/12 px-2 py-0.5 text-xs font-medium whitespace-nowrap text-tone-text`}
    >
      <span aria-hidden className={`size-1.5 rounded-full bg-tone ${moving ? 'animate-breathe' : ''}`} />
      {children}
    </span>
  );
}
