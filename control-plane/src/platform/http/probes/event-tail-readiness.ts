import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { EventTail } from '../../events/tail.ts';
import type { ReadinessCheck } from './readiness.ts';

const MAX_LAG_SECONDS = 10;

/** Ready while live events reach their readers in time. */
export function eventTailReadiness(db: Db, tail: EventTail): ReadinessCheck {
  return {
    name: 'event tail',
    async check() {
      const { from, unsubscribe } = tail.subscribe(() => undefined);
      unsubscribe();
      const { rows } = await sql<{ lag: number }>`
        select extract(epoch from now() - occurred_at)::float8 as lag from outbox_events
        where (xid, position) > (${from.xid}::text::xid8, ${from.position}::bigint)
        order by xid, position limit 1`.execute(db);
      const lag = rows[0]?.lag ?? 0;
      if (lag > MAX_LAG_SECONDS) throw new Error(`live events are ${Math.round(lag)} s behind`);
      return `${lag.toFixed(1)} s behind`;
    },
  };
}
