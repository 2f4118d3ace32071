import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';

/** A usage record and its debit; without a `ledger_transaction_id` it costs nothing. */
export interface UsageDebit {
  id: string;
  allocation_id: string;
  organization_id: string;
  currency: string;
  amount_micros: string;
  corrects_entry_id: string | null;
  ledger_transaction_id: string | null;
  ledger_kind: string;
  ledger_reason: string;
  correlation_id: string;
}

/** Posts the debits of many leases in two statements. Each record is new, so its posting key is too. */
export async function postUsageDebits(tx: Tx, records: readonly UsageDebit[]): Promise<void> {
  const debits = JSON.stringify(records.filter((record) => record.ledger_transaction_id !== null));
  await sql`
    insert into ledger_transactions (id, organization_id, kind, currency, posting_key, reason, correlation_id, metadata)
    select ledger_transaction_id, organization_id, ledger_kind, currency, 'usage:' || id, ledger_reason, correlation_id,
      jsonb_strip_nulls(jsonb_build_object('usage_record_id', id, 'allocation_id', allocation_id,
        'corrects_entry_id', corrects_entry_id))
    from jsonb_to_recordset(${debits}::jsonb) as d (id uuid, ledger_transaction_id uuid, organization_id uuid,
      ledger_kind text, currency text, ledger_reason text, correlation_id uuid, allocation_id uuid,
      corrects_entry_id uuid)`.execute(tx);
  await sql`
    insert into ledger_entries (id, transaction_id, organization_id, currency, account, amount_micros)
    select gen_random_uuid(), ledger_transaction_id, organization_id, currency, account, sign * amount_micros
    from jsonb_to_recordset(${debits}::jsonb) as d (ledger_transaction_id uuid, organization_id uuid, currency text,
      amount_micros bigint), (values ('tenant_balance', -1), ('revenue', 1)) as side (account, sign)`.execute(
    tx,
  );
}
