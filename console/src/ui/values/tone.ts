/** Meaning of a colour; always shown as text as well. */
export type Tone = 'success' | 'info' | 'violet' | 'warn' | 'danger' | 'neutral';

/** Complete class names, so that the stylesheet keeps them. */
export const TONE_CLASS: Record<Tone, string> = {
  success: 'tone-success',
  info: 'tone-info',
  violet: 'tone-violet',
  warn: 'tone-warn',
  danger: 'tone-danger',
  neutral: 'tone-neutral',
};
