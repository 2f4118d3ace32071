import type pg from 'pg';
import type { EventTail } from '../events/tail.ts';
import type { ReadinessPart } from './readiness.ts';

const MAX_LAG_SECONDS = 10;

/** Ready while live events reach their readers in time. */
export function eventTailReadiness(pool: pg.Pool, tail: EventTail): ReadinessPart {
  return {
    name: 'event tail',
    async check() {
      const { from, unsubscribe } = tail.subscribe(() => undefined);
      unsubscribe();
      const { rows } = await pool.query<{ lag: number }>(
        `select extract(epoch from now() - occurred_at)::float8 as lag from outbox_events
         where (xid, position) > ($1::text::xid8, $2::bigint) order by xid, position limit 1`,
        [from.xid, from.position],
      );
      const lag = rows[0]?.lag ?? 0;
      if (lag > MAX_LAG_SECONDS) throw new Error(`live events are ${Math.round(lag)} s behind`);
      return `${lag.toFixed(1)} s behind`;
    },
  };
}
