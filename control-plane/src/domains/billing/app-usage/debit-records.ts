import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { postTransaction } from '../ledger/post-transaction.ts';
import { isCoveredByLease, type ReportedRecord } from './check-record.ts';
import { lockMeters, saveMeters, type AppMeters } from './lock-meters.ts';
import { priceUsage } from './price-usage.ts';
import type { RecordOutcome, UsageReport } from './record-app-usage.ts';
import { first } from '../../../platform/present.ts';

/** Writes new records, with one debit for each tenant and currency among them. */
export async function debitRecords(
  policies: Policies,
  tx: Tx,
  report: UsageReport,
  fresh: readonly ReportedRecord[],
  now: Date,
): Promise<Map<string, RecordOutcome>> {
  if (fresh.length === 0) return new Map();
  const charged = fresh.filter((record) => !isCoveredByLease(record));
  const meters = await lockMeters(policies, tx, charged);
  const rows = fresh.map((record) => rowOf(report.producer, record, meters));
  await postDebits(tx, report, rows);
  await tx
    .insertInto('app_usage_records')
    .values(rows.map((row) => ({ ...row, recorded_at: now })))
    .execute();
  await saveMeters(tx, meters);
  return new Map(rows.map((row) => [row.record_id, outcomeOf(row)]));
}

type Row = ReturnType<typeof rowOf>;

async function postDebits(tx: Tx, report: UsageReport, rows: Row[]): Promise<void> {
  const debits = Map.groupBy(
    rows.filter((row) => row.amount_micros !== 0n),
    (row) => `${row.organization_id} ${row.currency}`,
  );
  // Every transaction takes the accounts in the same order, so that two producers block each other and never
  // deadlock.
  for (const [, used] of [...debits].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const amount = used.reduce((sum, row) => sum + row.amount_micros, 0n);
    const { transaction } = await postTransaction(tx, {
      organizationId: first(used, 'usage record').organization_id,
      kind: 'app_usage',
      currency: first(used, 'usage record').currency!,
      gains: { tenant_balance: -amount, revenue: amount },
      // A unique key makes the records new, and so the debit.
      postingKey: `app_usage:${first(used, 'usage record').id}`,
      reason: `Usage of ${[...new Set(used.map(({ app }) => app))].join(', ')}`.slice(0, 500),
      actorUserId: report.actorUserId,
      correlationId: report.correlationId,
    });
    for (const row of used) row.ledger_transaction_id = transaction.id;
  }
}

function rowOf(producer: string, record: ReportedRecord, meters: AppMeters) {
  const meter = meters.of(record);
  const use = meter ? priceUsage(meter, BigInt(record.quantity)) : null;
  return {
    id: newId(),
    producer,
    record_id: record.record_id,
    organization_id: record.organization_id,
    project_id: record.project_id,
    user_id: record.user_id ?? null,
    allocation_id: record.allocation_id ?? null,
    app_instance_id: record.app_instance_id ?? null,
    app: record.app,
    dimension: record.dimension,
    quantity: BigInt(record.quantity),
    occurred_at: new Date(record.occurred_at),
    price_id: meter?.price.id ?? null,
    meter_id: meter?.id ?? null,
    sequence: use?.sequence ?? null,
    currency: meter?.price.currency ?? null,
    per_block_micros: meter?.price.perBlockMicros ?? null,
    block: meter?.price.block ?? null,
    quantity_before: use?.quantityBefore ?? null,
    amount_micros: use?.amountMicros ?? 0n,
    not_charged_because: meter
      ? null
      : isCoveredByLease(record)
        ? 'the lease pays for its time'
        : 'it has no price',
    ledger_transaction_id: null as string | null,
  };
}

function outcomeOf(row: Row): RecordOutcome {
  const { record_id, currency, amount_micros, not_charged_because } = row;
  return {
    record_id,
    outcome: 'recorded',
    code: null,
    detail: not_charged_because,
    amount: currency === null ? null : moneyJson({ currency, micros: amount_micros }),
  };
}
