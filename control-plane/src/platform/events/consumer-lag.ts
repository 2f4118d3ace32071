import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export interface ConsumerLag {
  name: string;
  runner: string | null;
  /** Counted up to 10,000. */
  eventsBehind: number;
  /** Age of the oldest unhandled event; 0 when up to date. */
  secondsBehind: number;
  failures: number;
  lastError: string | null;
}

/** Lag of each consumer behind the log. */
export async function listConsumerLag(db: Db): Promise<ConsumerLag[]> {
  const { rows } = await sql<ConsumerLag>`
    select c.name, case when c.lease_expires_at > now() then c.runner end as runner,
      behind.count::int as "eventsBehind",
      greatest(0, coalesce(extract(epoch from now() - behind.oldest), 0))::float8 as "secondsBehind",
      c.failures, c.last_error as "lastError"
    from event_consumers c cross join lateral (
      select count(*) as count, min(occurred_at) as oldest from (
        select e.occurred_at from outbox_events e
        where (e.xid, e.position) > (c.cursor_xid, c.cursor_position)
        order by e.xid, e.position limit 10000
      ) as unread
    ) as behind
    order by c.name`.execute(db);
  return rows;
}

/** For readiness: throws with the names of consumers that have fallen behind. */
export async function assertConsumersKeepUp(
  db: Db,
  maxSeconds: number,
  options: { except?: string } = {},
): Promise<void> {
  const late = (await listConsumerLag(db)).filter(
    (consumer) => consumer.secondsBehind > maxSeconds && consumer.name !== options.except,
  );
  if (late.length === 0) return;
  const parts = late.map(
    ({ name, eventsBehind, secondsBehind, lastError }) =>
      `${name} is ${Math.round(secondsBehind)} s and ${eventsBehind} events behind${lastError ? ` (${lastError})` : ''}`,
  );
  throw new Error(parts.join('; '));
}
