import { formatAge, formatClock, formatDay, formatLocal, formatUtc } from '../../format/format-time.ts';
import { useNow } from './use-now.ts';

const FORMATS = { full: formatLocal, clock: formatClock, day: formatDay };

interface TimestampProps {
  at: string;
  /** `clock` where the day is clear from the context, `day` where the time of day is too much. */
  as?: keyof typeof FORMATS;
}

/** Local time; UTC on hover. */
export function Timestamp({ at, as = 'full' }: TimestampProps) {
  return (
    <time
      dateTime={at}
      title={as === 'day' ? `${formatLocal(at)} · ${formatUtc(at)}` : formatUtc(at)}
      className="tabular-nums"
    >
      {FORMATS[as](at)}
    </time>
  );
}

/** Relative time, kept current; exact time on hover. */
export function RelativeTime({ since }: { since: string }) {
  const now = useNow(1_000);
  return (
    <time dateTime={since} title={`${formatLocal(since)} · ${formatUtc(since)}`} className="tabular-nums">
      {formatAge(now - Date.parse(since))}
    </time>
  );
}
