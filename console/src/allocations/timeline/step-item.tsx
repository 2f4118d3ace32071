import { Check, Circle, LoaderCircle, Minus, X } from 'lucide-react';
import type { TimelineStep } from '../../api/types.ts';
import { formatDuration } from '../../format/format-time.ts';
import { ProgressBar } from '../../ui/charts/progress-bar.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';
import { TONE_CLASS, type Tone } from '../../ui/values/tone.ts';

const STATUS_STYLE = {
  waiting: { tone: 'neutral', icon: Circle, word: 'waiting' },
  active: { tone: 'info', icon: LoaderCircle, word: 'active' },
  done: { tone: 'success', icon: Check, word: 'done' },
  failed: { tone: 'danger', icon: X, word: 'failed' },
  skipped: { tone: 'neutral', icon: Minus, word: 'skipped' },
} as const satisfies Record<TimelineStep['state'], { tone: Tone; icon: unknown; word: string }>;

export function StepItem({ step }: { step: TimelineStep }) {
  const { stage, title, state, percent, detail, started_at: startedAt, ended_at: endedAt } = step;
  const { tone, icon: Icon, word } = STATUS_STYLE[state];
  const waiting = state === 'waiting';
  const faint = waiting || state === 'skipped';
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
          <Icon
            aria-hidden
            className={state === 'active' ? 'size-3 animate-spin' : waiting ? 'size-1.5 opacity-0' : 'size-3'}
          />
        </span>
        <span aria-hidden className="w-px flex-1 bg-line group-last:hidden" />
      </span>
      <div className="flex min-w-0 flex-col gap-1 pb-4 group-last:pb-0">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
          <span data-title className={faint ? 'text-ink-faint' : 'font-medium'}>
            {title}
            <span className="sr-only">, {word}</span>
          </span>
          {startedAt && (
            <span className="text-xs text-ink-faint">
              {endedAt && took(startedAt, endedAt)}
              <Timestamp at={startedAt} as="clock" />
            </span>
          )}
        </div>
        {detail && (
          <p className={`text-sm break-words ${state === 'failed' ? 'text-tone-text' : 'text-ink-muted'}`}>
            {detail}
          </p>
        )}
        {state === 'active' && percent !== null && (
          <div className="flex items-center gap-3">
            <ProgressBar label={title} percent={percent} tone={tone} />
            <span className="w-9 text-right text-xs text-ink-muted tabular-nums">{percent}%</span>
          </div>
        )}
      </div>
    </li>
  );
}

function took(startedAt: string, endedAt: string): string {
  const span = Date.parse(endedAt) - Date.parse(startedAt);
  return span < 1_000 ? '' : `${formatDuration(span)} · `;
}
