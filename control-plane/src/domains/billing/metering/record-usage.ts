import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { postUsageDebits } from '../ledger/post-usage-debits.ts';
import type { MeterResult, NewUsage } from './meter-lease.ts';
import type { OpenMeter } from './read-open-meters.ts';
import { first } from '../../../platform/present.ts';

/** Rows that a batch writes for one lease. */
export interface MeteredLease {
  lease: OpenMeter;
  result: MeterResult;
}

/** Writes records, their debits and the meters of many leases, each in one statement. */
export async function recordUsage(tx: Tx, batch: readonly MeteredLease[], now: Date): Promise<number> {
  const rows = batch.flatMap(({ lease, result }) =>
    result.usage.map((usage, index) => usageRow(lease, usage, index)),
  );
  if (rows.length > 0) {
    await nameCorrected(tx, rows);
    await postUsageDebits(tx, rows);
    await insertUsage(tx, JSON.stringify(rows), now);
  }
  await updateMeters(tx, batch);
  return rows.length;
}

type UsageRow = ReturnType<typeof usageRow>;

function usageRow(lease: OpenMeter, usage: NewUsage, index: number) {
  const window = usage.kind === 'window' ? usage : null;
  const at = (second: bigint): string =>
    new Date(lease.meter.startedAt.getTime() + Number(second) * 1000).toISOString();
  const from = usage.kind === 'window' ? usage.fromSecond : usage.correctedSecond;
  const seconds = usage.billedSeconds;
  return {
    id: newId(),
    allocation_id: lease.allocationId,
    sequence: String(lease.meter.records + BigInt(index) + 1n),
    organization_id: lease.organizationId,
    project_id: lease.projectId,
    user_id: lease.userId,
    sku: lease.sku,
    region: lease.region,
    gpu_count: lease.gpuCount,
    currency: lease.meter.perHour.currency,
    per_hour_micros: String(lease.meter.perHour.micros),
    from_second: window ? String(window.fromSecond) : null,
    to_second: window ? String(window.toSecond) : null,
    window_from: at(from),
    window_to: at(window ? window.toSecond : from),
    billed_seconds: String(seconds),
    billed_before: String(usage.billedBefore),
    amount_micros: String(usage.amountMicros),
    corrected_second: usage.kind === 'correction' ? String(usage.correctedSecond) : null,
    corrects_usage_id: null as string | null,
    corrects_entry_id: null as string | null,
    reason: usage.reason,
    ledger_transaction_id: usage.amountMicros === 0n ? null : newId(),
    ledger_kind: window ? 'usage' : 'usage_correction',
    ledger_reason: `${lease.gpuCount} × ${lease.sku} for ${seconds} s${window ? '' : `: ${usage.reason}`}`,
    correlation_id: lease.correlationId,
  };
}

/** A correction names the window it corrects and the entry if the window was debited. */
async function nameCorrected(tx: Tx, rows: UsageRow[]): Promise<void> {
  for (const row of rows.filter(({ corrected_second }) => corrected_second !== null)) {
    const { rows: found } = await sql<{ id: string; entry_id: string | null }>`
      select u.id, e.id as entry_id from usage_records u
        left join ledger_entries e on e.transaction_id = u.ledger_transaction_id and e.account = 'tenant_balance'
      where u.allocation_id = ${row.allocation_id}
        and u.from_second <= ${row.corrected_second} and u.to_second > ${row.corrected_second}`.execute(tx);
    row.corrects_usage_id = first(found, 'found record').id;
    row.corrects_entry_id = first(found, 'found record').entry_id;
  }
}

async function insertUsage(tx: Tx, rows: string, now: Date): Promise<void> {
  await sql`
    insert into usage_records (id, allocation_id, sequence, organization_id, project_id, user_id, sku, region, gpu_count,
      currency, per_hour_micros, from_second, to_second, window_from, window_to, billed_seconds, billed_before,
      amount_micros, corrects_usage_id, reason, ledger_transaction_id, recorded_at)
    select id, allocation_id, sequence, organization_id, project_id, user_id, sku, region, gpu_count,
      currency, per_hour_micros, from_second, to_second, window_from, window_to, billed_seconds, billed_before,
      amount_micros, corrects_usage_id, reason, ledger_transaction_id, ${now}
    from jsonb_to_recordset(${rows}::jsonb) as r (id uuid, allocation_id uuid, sequence bigint, organization_id uuid,
      project_id uuid, user_id uuid, sku text, region text, gpu_count smallint, currency text, per_hour_micros bigint,
      from_second bigint, to_second bigint, window_from timestamptz, window_to timestamptz, billed_seconds bigint,
      billed_before bigint, amount_micros bigint, corrects_usage_id uuid, reason text, ledger_transaction_id uuid)`.execute(
    tx,
  );
}

async function updateMeters(tx: Tx, batch: readonly MeteredLease[]): Promise<void> {
  const meters = batch.map(({ lease, result: { meter } }) => ({
    allocation_id: lease.allocationId,
    metered_seconds: String(meter.meteredSeconds),
    billed_seconds: String(meter.billedSeconds),
    billed_micros: String(meter.billedMicros),
    records: String(meter.records),
    seen_revision: String(meter.seenRevision),
    ended_at: meter.endedAt?.toISOString() ?? null,
    unproven_after: meter.unprovenAfter?.toISOString() ?? null,
  }));
  await sql`
    update allocation_meters m set metered_seconds = u.metered_seconds, billed_seconds = u.billed_seconds,
      billed_micros = u.billed_micros, records = u.records, seen_revision = u.seen_revision, ended_at = u.ended_at,
      unproven_after = u.unproven_after
    from jsonb_to_recordset(${JSON.stringify(meters)}::jsonb) as u (allocation_id uuid, metered_seconds bigint,
      billed_seconds bigint, billed_micros bigint, records bigint, seen_revision bigint, ended_at timestamptz,
      unproven_after timestamptz)
    where m.allocation_id = u.allocation_id`.execute(tx);
}
