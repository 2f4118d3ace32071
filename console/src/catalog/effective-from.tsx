import { Badge } from '../ui/values/badge.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { useNow } from '../ui/values/use-now.ts';

const MINUTE_MS = 60_000;

/** Start of a price, and whether it is in the future. */
export function EffectiveFrom({ at }: { at: string }) {
  const now = useNow(MINUTE_MS);
  return (
    <span className="inline-flex items-center gap-2">
      <Timestamp at={at} />
      {Date.parse(at) > now && <Badge tone="info">Scheduled</Badge>}
    </span>
  );
}
