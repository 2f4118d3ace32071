import { useEffect, useState } from 'react';
import { useLostAt } from '../../live/connection.ts';

/** The current time, renewed every `intervalMs`; null stops it. It stands still while the server does not answer. */
export function useNow(intervalMs: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  const lostAt = useLostAt();

  useEffect(() => {
    if (intervalMs === null) return undefined;
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);

  return lostAt === null ? now : Math.min(now, lostAt);
}
