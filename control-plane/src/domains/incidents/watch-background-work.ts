import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from './sync-incidents.ts';

/** A host that lost a worker and has none since is forgotten after this long without another loss. */
const QUIET_SECONDS = 900;

/** Keeps incidents about parked events and lost workers in step with what the platform sees now. */
export const watchBackgroundWork: Tick<Services> = {
  name: 'incidents.watch_background_work',
  everySeconds: 15,
  catchUp: 'skip',
  async run({ clock, db }) {
    const now = clock.now();
    await db.transaction().execute(async (tx) => {
      const parked = await parkedEvents(tx);
      await syncIncidents(tx, now, 'event_parked', parked, 'Its parked events were handled or skipped.');
      await closeLostWorkers(tx, now);
    });
  },
};

/** One incident per consumer, however many of its events are parked. */
async function parkedEvents(tx: Tx): Promise<IncidentCondition[]> {
  const { rows } = await sql<{ consumer: string; count: number; last_error: string }>`
    select consumer, count(*)::int as count, (array_agg(last_error order by id desc))[1] as last_error
    from parked_events where settled_at is null group by consumer order by consumer`.execute(tx);
  return rows.map(({ consumer, count, last_error }) => ({
    targetType: 'consumer',
    targetId: consumer,
    summary: `${consumer} went on without ${count === 1 ? 'an event' : `${count} events`}: ${last_error}`,
    detail: { parked: count },
  }));
}

/**
 * The work of a lost worker passes to others within seconds. The incident is over when a worker runs on the same host
 * again, or when the host has been quiet for a while and another host has a worker.
 */
async function closeLostWorkers(tx: Tx, now: Date): Promise<void> {
  await sql`
    update incidents i
    set resolved_at = ${now},
      resolution = case when back.executor_id is null then 'Other workers have taken its work.'
        else 'The worker ' || back.executor_id || ' runs on this host again.' end
    from incidents open
      left join lateral (
        select e.executor_id from workflow_executors e
        where e.host = open.detail->>'host' and e.host <> '' and e.lost_at is null and e.stopped_at is null
          and e.started_at > (open.detail->>'last_heartbeat_at')::timestamptz
        order by e.started_at desc limit 1) as back on true
    where i.id = open.id and open.type = 'worker_lost' and open.resolved_at is null
      and (back.executor_id is not null
        or open.last_seen_at < ${now}::timestamptz - make_interval(secs => ${QUIET_SECONDS})
          and exists (select from workflow_executors e where e.lost_at is null and e.stopped_at is null))`.execute(
    tx,
  );
}
