import { Check, Circle, LoaderCircle, Minus, X } from 'lucide-react';
import type { TimelineStep } from '../../api/types.ts';
import { formatDuration } from '../../format/format-time.ts';
import { ProgressBar } from '../../ui/charts/progress-bar.tsx';
import { TimelineItem } from '../../ui/timeline/timeline-item.tsx';
import type { Tone } from '../../ui/values/tone.ts';

const STATUS_STYLE = {
  waiting: { tone: 'neutral', icon: Circle, word: 'waiting' },
  active: { tone: 'info', icon: LoaderCircle, word: 'active' },
  done: { tone: 'success', icon: Check, word: 'done' },
  failed: { tone: 'danger', icon: X, word: 'failed' },
  skipped: { tone: 'neutral', icon: Minus, word: 'skipped' },
} as const satisfies Record<TimelineStep['state'], { tone: Tone; icon: unknown; word: string }>;

export function StepItem({ step }: { step: TimelineStep }) {
  const { stage, title, state, percent, detail, started_at: startedAt, ended_at: endedAt } = step;
  const { tone, icon, word } = STATUS_STYLE[state];
  const waiting = state === 'waiting';
  return (
    <TimelineItem
      stage={stage}
      state={state}
      tone={tone}
      icon={icon}
      iconClass={state === 'active' ? 'size-3 animate-spin' : waiting ? 'size-1.5 opacity-0' : 'size-3'}
      faint={waiting || state === 'skipped'}
      title={title}
      word={word}
      at={startedAt}
      took={startedAt && endedAt ? took(startedAt, endedAt) : ''}
    >
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
    </TimelineItem>
  );
}

function took(startedAt: string, endedAt: string): string {
  const span = Date.parse(endedAt) - Date.parse(startedAt);
  return span < 1_000 ? '' : `${formatDuration(span)} · `;
}
