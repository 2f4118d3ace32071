import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import type { ReportedRecord } from './check-record.ts';
import { GATEWAY_PRODUCER } from './gateway-producer.ts';
import { recordAppUsage, type RecordOutcome } from './record-app-usage.ts';

const BATCH = 200;

interface CountRow {
  id: string;
  app_instance_id: string;
  organization_id: string;
  project_id: string;
  allocation_id: string;
  user_id: string | null;
  app: string;
  requests: bigint;
  counted_at: Date;
}

/**
 * Turns the counts of gateways into usage records and debits. Count, record and debit are one transaction, and the id of
 * the count is the id of the record: a process that dies anywhere bills nothing twice and nothing less.
 */
export const recordAppRequests: Tick<Services> = {
  name: 'billing.record_app_requests',
  everySeconds: 5,
  catchUp: 'skip',
  async run(services) {
    while ((await recordBatch(services)) === BATCH);
  },
};

async function recordBatch(services: Services): Promise<number> {
  return await services.db.transaction().execute(async (tx) => {
    const { rows } = await sql<CountRow>`
      select id, app_instance_id, organization_id, project_id, allocation_id, user_id, app, requests, counted_at
      from app_request_counts where recorded_at is null and refusal is null
      order by counted_at, id limit ${BATCH} for update skip locked`.execute(tx);
    if (rows.length === 0) return 0;
    const report = {
      producer: GATEWAY_PRODUCER,
      records: rows.map(recordOf),
      actorUserId: null,
      correlationId: newId(),
    };
    // Operators' rights cover the usage of every tenant; the worker only reads it.
    const outcomes = await withRole(tx, 'gpuaas_operator', () => recordAppUsage(services, tx, report));
    await settle(tx, outcomes, services.clock.now());
    return rows.length;
  });
}

function recordOf(row: CountRow): ReportedRecord {
  return {
    record_id: row.id,
    organization_id: row.organization_id,
    project_id: row.project_id,
    allocation_id: row.allocation_id,
    app_instance_id: row.app_instance_id,
    app: row.app,
    dimension: 'requests',
    quantity: Number(row.requests),
    occurred_at: row.counted_at.toISOString(),
    ...(row.user_id === null ? {} : { user_id: row.user_id }),
  };
}

async function settle(tx: Tx, outcomes: readonly RecordOutcome[], now: Date): Promise<void> {
  const settled = outcomes.map(({ record_id, outcome, code, detail }) => ({
    id: record_id,
    refusal: outcome === 'refused' ? `${code}: ${detail}`.slice(0, 300) : null,
  }));
  await sql`
    update app_request_counts c set refusal = s.refusal, recorded_at = case when s.refusal is null then ${now}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb) as s (id uuid, refusal text)
    where c.id = s.id`.execute(tx);
}
