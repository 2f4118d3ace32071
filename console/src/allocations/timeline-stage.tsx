import { Check, Circle, LoaderCircle, X } from 'lucide-react';
import { formatDuration } from '../format/time.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { TONE_CLASS, type Tone } from '../ui/tone.ts';
import type { StageProgress } from './fold-timeline.ts';
import { STAGE_TITLES } from './stages.ts';

const LOOK = {
  waiting: { tone: 'neutral', icon: Circle, word: 'waiting' },
  running: { tone: 'info', icon: LoaderCircle, word: 'running' },
  done: { tone: 'success', icon: Check, word: 'done' },
  failed: { tone: 'danger', icon: X, word: 'failed' },
} as const satisfies Record<StageProgress['status'], { tone: Tone; icon: unknown; word: string }>;

export function TimelineStage({ progress }: { progress: StageProgress }) {
  const { stage, status, percent, message, startedAt, endedAt } = progress;
  const { tone, icon: Icon, word } = LOOK[status];
  const waiting = status === 'waiting';
  return (
    <li
      data-stage={stage}
      data-status={status}
      className={`${TONE_CLASS[tone]} group grid grid-cols-[1.25rem_1fr] gap-x-3`}
    >
      <span className="flex flex-col items-center">
        <span
          className={`flex size-5 shrink-0 items-center justify-center rounded-full border ${waiting ? 'border-line text-ink-faint' : 'border-tone/50 bg-tone/12 text-tone-text'}`}
        >
          <Icon
            aria-hidden
            className={
              status === 'running' ? 'size-3 animate-spin' : waiting ? 'size-1.5 opacity-0' : 'size-3'
            }
          />
        </span>
        <span aria-hidden className="w-px flex-1 bg-line group-last:hidden" />
      </span>
      <div className="flex min-w-0 flex-col gap-1 pb-4 group-last:pb-0">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
          <span className={waiting ? 'text-ink-faint' : 'font-medium'}>
            {STAGE_TITLES[stage]}
            <span className="sr-only">, {word}</span>
          </span>
          {startedAt && (
            <span className="text-xs text-ink-faint">
              {endedAt && took(startedAt, endedAt)}
              <Timestamp at={startedAt} as="clock" />
            </span>
          )}
        </div>
        {message && (
          <p className={`text-sm break-words ${status === 'failed' ? 'text-tone-text' : 'text-ink-muted'}`}>
            {message}
          </p>
        )}
        {status === 'running' && percent !== null && (
          <div className="flex items-center gap-3">
            <ProgressBar label={STAGE_TITLES[stage]} percent={percent} tone={tone} />
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
