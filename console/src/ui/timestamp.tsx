import { formatAge, formatClock, formatDay, formatLocal, formatUtc } from '../format/time.ts';
import { useNow } from './use-now.ts';

const FORMATS = { full: formatLocal, clock: formatClock, day: formatDay };

interface TimestampProps {
  at: string;
  /** `clock` where the day is clear from the surroundings, `day` where the time of day says too much. */
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

/** How long ago, kept current; exact times on hover. */
export function Age({ since }: { since: string }) {
  const now = useNow(1_000);
  return (
    <time dateTime={since} title={`${formatLocal(since)} · ${formatUtc(since)}`} className="tabular-nums">
      {formatAge(now - Date.parse(since))}
    </time>
  );
}
