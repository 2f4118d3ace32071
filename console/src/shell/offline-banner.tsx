import { WifiOff } from 'lucide-react';
import { formatClock } from '../format/format-time.ts';
import { useLostAt } from '../live/connection.ts';

/** Shown while the server does not answer: nothing on the page is newer than the time it names. */
export function OfflineBanner() {
  const lostAt = useLostAt();
  if (lostAt === null) return null;
  return (
    <div
      role="alert"
      className="tone-danger sticky top-0 z-40 flex items-center gap-3 border-b border-tone/40 bg-surface px-4 py-2 text-sm sm:px-6"
    >
      <WifiOff aria-hidden className="size-4 shrink-0 text-tone-text" />
      <p>
        <span className="font-semibold text-tone-text">Offline: the server does not answer.</span> Everything
        here is as of {formatClock(new Date(lostAt).toISOString())}. Actions are disabled until the connection
        is back; your machines keep running.
      </p>
    </div>
  );
}
