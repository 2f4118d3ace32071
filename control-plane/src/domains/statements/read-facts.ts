import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { AppUsageFact, TransactionFact, UsageFact } from './build-statement.ts';
import { first } from '../../platform/present.ts';

/** Ledger transactions of a statement, in a fixed order. */
export async function readFacts(
  tx: Db | Tx,
  statementId: string,
): Promise<{
  usage: UsageFact[];
  appUsage: AppUsageFact[];
  movements: TransactionFact[];
  taxMicros: bigint;
}> {
  const { rows: usage } = await sql<UsageFact>`
    select u.allocation_id as "allocationId", u.project_id as "projectId", u.sku, u.region, u.gpu_count as "gpuCount",
      u.per_hour_micros as "perHourMicros", min(u.window_from) as "from", max(u.window_to) as "to",
      sum(u.billed_seconds)::bigint as seconds, sum(e.amount_micros)::bigint as "amountMicros"
    from statement_transactions s join ledger_transactions t on t.id = s.transaction_id and t.kind = 'usage'
      join usage_records u on u.ledger_transaction_id = t.id
      join ledger_entries e on e.transaction_id = t.id and e.account = 'tenant_balance'
    where s.statement_id = ${statementId}
    group by 1, 2, 3, 4, 5, 6 order by min(u.window_from), u.allocation_id, u.project_id`.execute(tx);
  const { rows: appUsage } = await sql<AppUsageFact>`
    select r.project_id as "projectId", r.app, r.dimension, r.per_block_micros as "perBlockMicros", r.block,
      min(r.occurred_at) as "from", max(r.occurred_at) as "to", sum(r.quantity)::bigint as quantity,
      -sum(r.amount_micros)::bigint as "amountMicros"
    from statement_transactions s join app_usage_records r on r.ledger_transaction_id = s.transaction_id
    where s.statement_id = ${statementId}
    group by 1, 2, 3, 4, 5 order by r.app, r.dimension, r.project_id, min(r.occurred_at)`.execute(tx);
  const { rows: movements } = await sql<TransactionFact>`
    select t.id as "transactionId", t.kind, t.reason, t.posted_at as "postedAt", e.amount_micros as "amountMicros",
      coalesce(x.amount_micros, 0) as "taxMicros"
    from statement_transactions s join ledger_transactions t on t.id = s.transaction_id and t.kind not in ('usage', 'app_usage')
      join ledger_entries e on e.transaction_id = t.id and e.account = 'tenant_balance'
      left join ledger_entries x on x.transaction_id = t.id and x.account = 'tax'
    where s.statement_id = ${statementId} order by t.posted_at, t.id`.execute(tx);
  const { rows: tax } = await sql<{ micros: bigint }>`
    select coalesce(sum(e.amount_micros), 0)::bigint as micros
    from statement_transactions s join ledger_entries e on e.transaction_id = s.transaction_id and e.account = 'tax'
    where s.statement_id = ${statementId}`.execute(tx);
  return { usage, appUsage, movements, taxMicros: first(tax, 'tax of the month').micros };
}
