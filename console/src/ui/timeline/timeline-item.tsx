import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Timestamp } from '../values/timestamp.tsx';
import { TONE_CLASS, type Tone } from '../values/tone.ts';

interface TimelineItemProps {
  /** What kind of step it is, and how it stands, for tests and styles. */
  stage: string;
  state: string;
  tone: Tone;
  icon: LucideIcon;
  iconClass?: string;
  /** Not reached, or left out. */
  faint?: boolean;
  title: string;
  /** The state in a word, for screen readers. */
  word: string;
  at: string | null;
  /** Before the time: how long it took. */
  took?: string;
  children?: ReactNode;
}

/** One entry of a vertical timeline, joined to the next by a line. */
export function TimelineItem(props: TimelineItemProps) {
  const { stage, state, tone, icon: Icon, iconClass = 'size-3', faint, title, word, at, took } = props;
  return (
    <li
      data-stage={stage}
      data-state={state}
      className={`${TONE_CLASS[tone]} group grid grid-cols-[1.25rem_1fr] gap-x-3`}
    >
      <span className="flex flex-col items-center">
        <span
          className={`flex size-5 shrink-0 items-center justify-center rounded-full border ${faint ? 'border-line text-ink-faint' : 'border-tone/50 bg-tone/12 text-tone-text'}`}
        >
          <Icon aria-hidden className={iconClass} />
        </span>
        <span aria-hidden className="w-px flex-1 bg-line group-last:hidden" />
      </span>
      <div className="flex min-w-0 flex-col gap-1 pb-4 group-last:pb-0">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
          <span data-title className={faint ? 'text-ink-faint' : 'font-medium'}>
            {title}
            <span className="sr-only">, {word}</span>
          </span>
          {at && (
            <span className="text-xs text-ink-faint">
              {took}
              <Timestamp at={at} as="clock" />
            </span>
          )}
        </div>
        {props.children}
      </div>
    </li>
  );
}
