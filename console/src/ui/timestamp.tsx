import { formatAge, formatClock, formatLocal, formatUtc } from '../format/time.ts';
import { useNow } from './use-now.ts';

interface TimestampProps {
  at: string;
  /** `clock` where the day is clear from the surroundings. */
  as?: 'full' | 'clock';
}

/** Local time; UTC on hover. */
export function Timestamp({ at, as = 'full' }: TimestampProps) {
  return (
    <time dateTime={at} title={formatUtc(at)} className="tabular-nums">
      {as === 'clock' ? formatClock(at) : formatLocal(at)}
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
