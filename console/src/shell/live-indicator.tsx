import { useLostAt } from '../live/connection.ts';
import { useStreamStatus, type StreamStatus } from '../live/stream-status.ts';
import { TONE_CLASS, type Tone } from '../ui/values/tone.ts';

const SAYS: Record<StreamStatus | 'offline', { tone: Tone; text: string; title: string }> = {
  offline: { tone: 'danger', text: 'Offline', title: 'The server does not answer' },
  open: { tone: 'success', text: 'Live', title: 'Live updates' },
  connecting: { tone: 'neutral', text: 'Connecting', title: 'Connecting to live updates' },
  lost: {
    tone: 'warn',
    text: 'Polling',
    title: 'Live updates lost; refreshing every 5 seconds',
  },
};

export function LiveIndicator({ compact }: { compact?: boolean }) {
  const status = useStreamStatus();
  const { tone, text, title } = SAYS[useLostAt() === null ? status : 'offline'];
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
