import { sql } from 'kysely';
import type { Retention } from '../../../platform/db/prune-expired.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from '../../incidents/sync-incidents.ts';
import { GATEWAY_PRODUCER } from './gateway-producer.ts';

/** A count is recorded within seconds; one this old waits for something that does not happen. */
const SETTLED = '5 minutes';
/** Earlier counts were compared before. */
const COMPARED = '2 days';
const SHOWN = 200;

interface Difference {
  app_instance_id: string;
  refused: bigint;
  waiting: bigint;
  differing: bigint;
  refusal: string | null;
}

/** Compares what gateways counted with what was recorded and billed. */
export const reconcileAppRequests: Tick<Services> = {
  name: 'billing.reconcile_app_requests',
  everySeconds: 60,
  catchUp: 'skip',
  run: ({ db, clock }) =>
    db.transaction().execute(async (tx) => {
      const now = clock.now();
      await syncIncidents(
        tx,
        now,
        'app_runtime_billing',
        (await findDifferences(tx, now)).map(conditionOf),
        'Every counted request is recorded, or its count is out of date.',
      );
    }),
};

async function findDifferences(tx: Tx, now: Date): Promise<Difference[]> {
  const { rows } = await sql<Difference>`
    select c.app_instance_id, max(c.refusal) as refusal,
      coalesce(sum(c.requests) filter (where c.refusal is not null), 0)::bigint as refused,
      coalesce(sum(c.requests) filter (where c.recorded_at is null and c.refusal is null), 0)::bigint as waiting,
      coalesce(sum(c.requests) filter (where c.recorded_at is not null), 0)::bigint as differing
    from app_request_counts c
      left join app_usage_records r on r.producer = ${GATEWAY_PRODUCER} and r.record_id = c.id::text
    where c.counted_at > ${now}::timestamptz - ${COMPARED}::interval and (
      c.refusal is not null
      or (c.recorded_at is null and c.counted_at < ${now}::timestamptz - ${SETTLED}::interval)
      or (c.recorded_at is not null and (r.quantity, r.app_instance_id) is distinct from (c.requests, c.app_instance_id)))
    group by 1 order by 1 limit ${SHOWN}`.execute(tx);
  return rows;
}

function conditionOf({
  app_instance_id,
  refused,
  waiting,
  differing,
  refusal,
}: Difference): IncidentCondition {
  const parts = [
    ...(refused > 0n ? [`${refused} refused (${refusal})`] : []),
    ...(waiting > 0n ? [`${waiting} not recorded yet`] : []),
    ...(differing > 0n ? [`${differing} recorded differently`] : []),
  ];
  return {
    targetType: 'app_instance',
    targetId: app_instance_id,
    summary: `Requests of an app that are not billed as counted: ${parts.join(', ')}.`,
    detail: { refused: Number(refused), waiting: Number(waiting), differing: Number(differing) },
  };
}

/** Usage records explain debits and stay; counts are needed until they have been compared. */
export const pruneRequestCounts: Retention = async (db) => {
  await sql`delete from app_request_counts where counted_at < now() - interval '90 days'`.execute(db);
};
