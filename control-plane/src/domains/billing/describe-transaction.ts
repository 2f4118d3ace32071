import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { moneyJson } from '../../platform/money.ts';
import type { LedgerAccount, PostedTransaction } from './post-transaction.ts';

type LedgerTransaction = components['schemas']['LedgerTransaction'];

export function describeTransaction({ transaction, entries }: PostedTransaction): LedgerTransaction {
  const { currency } = transaction;
  const money = (micros: bigint) => moneyJson({ currency, micros });
  const gained = entries.find((entry) => entry.account === 'tenant_balance')?.amount_micros ?? 0n;
  return {
    id: transaction.id,
    organization_id: transaction.organization_id,
    kind: transaction.kind as LedgerTransaction['kind'],
    amount: money(gained),
    reason: transaction.reason,
    corrects_entry_id: (transaction.metadata as { corrects_entry_id?: string }).corrects_entry_id ?? null,
    correlation_id: transaction.correlation_id,
    posted_at: transaction.posted_at.toISOString(),
    entries: entries.map((entry) => ({
      id: entry.id,
      account: entry.account as LedgerAccount,
      amount: money(entry.amount_micros),
    })),
  };
}
