import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { PostedTransaction } from './post-transaction.ts';

type LedgerTransaction = components['schemas']['LedgerTransaction'];

export function describeTransaction({ transaction, entries }: PostedTransaction): LedgerTransaction {
  const { currency } = transaction;
  const money = (micros: bigint) => moneyJson({ currency, micros });
  const gained = entries.find((entry) => entry.account === 'tenant_balance')?.amount_micros ?? 0n;
  return {
    id: transaction.id,
    organization_id: transaction.organization_id,
    kind: transaction.kind,
    amount: money(gained),
    reason: transaction.reason,
    corrects_entry_id: transaction.metadata.corrects_entry_id ?? null,
    correlation_id: transaction.correlation_id,
    posted_at: transaction.posted_at.toISOString(),
    entries: entries.map((entry) => ({
      id: entry.id,
      account: entry.account,
      amount: money(entry.amount_micros),
    })),
  };
}
