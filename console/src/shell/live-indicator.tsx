import { useStreamStatus, type StreamStatus } from '../live/stream-status.ts';
import { TONE_CLASS, type Tone } from '../ui/tone.ts';

const SAYS: Record<StreamStatus, { tone: Tone; text: string; title: string }> = {
  open: { tone: 'success', text: 'Live', title: 'Changes appear as they happen' },
  connecting: { tone: 'neutral', text: 'Connecting', title: 'Opening the live stream' },
  lost: {
    tone: 'warn',
    text: 'Polling',
    title: 'The live stream is lost; refreshing every 5 seconds until it is back',
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
