import { useStreamStatus, type StreamStatus } from '../live/stream-status.ts';
import { TONE_CLASS, type Tone } from '../ui/values/tone.ts';

const SAYS: Record<StreamStatus, { tone: Tone; text: string; title: string }> = {
  open: { tone: 'success', text: 'Live', title: 'Live updates' },
  connecting: { tone: 'neutral', text: 'Connecting', title: 'Connecting to live updates' },
  lost: {
    tone: 'warn',
    text: 'Polling',
    title: 'Live updates lost; refreshing every 5 seconds',
  },
};

export function LiveIndicator({ compact }: { compact?: boolean }) {
  const { tone, text, title } = SAYS[useStreamStatus()];
  return (
    <span
      role="status"
      title={title}
      className={`${TONE_CLASS[tone]} inline-flex items-center gap-1.5 text-xs text-ink-muted`}
    >
      <span aria-hidden className="size-1.5 rounded-full bg-tone" />
      <span className={compact ? 'sr-only sm:not-sr-only' : ''}>{text}</span>
    </span>
  );
}
