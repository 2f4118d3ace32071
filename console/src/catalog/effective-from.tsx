import { Badge } from '../ui/badge.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { useNow } from '../ui/use-now.ts';

const MINUTE_MS = 60_000;

/** When a price begins, and whether that is yet to come. */
export function EffectiveFrom({ at }: { at: string }) {
  const now = useNow(MINUTE_MS);
  return (
    <span className="inline-flex items-center gap-2">
      <Timestamp at={at} />
      {Date.parse(at) > now && <Badge tone="info">To come</Badge>}
    </span>
  );
}
