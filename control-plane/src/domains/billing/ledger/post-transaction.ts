import type { Selectable } from 'kysely';
import { entriesOf } from '@gpuaas/contracts/typed-keys';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { LedgerEntries, LedgerTransactions } from '../../../platform/db/generated/schema.ts';
import { newId } from '../../../platform/ids.ts';

export type LedgerAccount = components['schemas']['LedgerAccount'];
export type TransactionRow = Selectable<LedgerTransactions>;
export type EntryRow = Selectable<LedgerEntries>;

export interface Posting {
  organizationId: string;
  kind: components['schemas']['LedgerTransaction']['kind'];
  currency: string;
  /** Change of each account; the sum is zero. */
  gains: Partial<Record<LedgerAccount, bigint>>;
  /** Identifies the cause: a second posting with the same key changes nothing. */
  postingKey: string;
  reason: string;
  actorUserId: string | null;
  correlationId: string;
  metadata?: { corrects_entry_id?: string; payment_id?: string };
}

export interface PostedTransaction {
  transaction: TransactionRow;
  entries: EntryRow[];
}

/**
 * Writes the ledger. Only this and `postUsageDebits` do. A posting whose key exists returns the earlier
 * posting.
 */
export async function postTransaction(tx: Tx, posting: Posting): Promise<PostedTransaction> {
  requireBalanced(posting.gains);
  const transaction = await tx
    .insertInto('ledger_transactions')
    .values({
      id: newId(),
      organization_id: posting.organizationId,
      kind: posting.kind,
      currency: posting.currency,
      posting_key: posting.postingKey,
      reason: posting.reason,
      actor_user_id: posting.actorUserId,
      correlation_id: posting.correlationId,
      metadata: JSON.stringify(posting.metadata ?? {}),
    })
    .onConflict((c) => c.columns(['organization_id', 'posting_key']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!transaction) return await findPosted(tx, posting);
  const entries = await tx
    .insertInto('ledger_entries')
    .values(
      entriesOf(posting.gains).map(([account, amount]) => ({
        id: newId(),
        transaction_id: transaction.id,
        organization_id: posting.organizationId,
        currency: posting.currency,
        account,
        amount_micros: amount,
      })),
    )
    .returningAll()
    .execute();
  return { transaction, entries };
}

function requireBalanced(gains: Posting['gains']): void {
  const sum = Object.values(gains).reduce((total, gain) => total + gain, 0n);
  if (sum !== 0n) throw new RangeError(`the entries of a ledger transaction sum to ${sum}, not to zero`);
}

async function findPosted(tx: Tx, posting: Posting): Promise<PostedTransaction> {
  const transaction = await tx
    .selectFrom('ledger_transactions')
    .selectAll()
    .where('organization_id', '=', posting.organizationId)
    .where('posting_key', '=', posting.postingKey)
    .executeTakeFirstOrThrow();
  return { transaction, entries: await listEntries(tx, [transaction.id]) };
}

export async function listEntries(tx: Tx, transactionIds: string[]): Promise<EntryRow[]> {
  if (transactionIds.length === 0) return [];
  return await tx
    .selectFrom('ledger_entries')
    .selectAll()
    .where('transaction_id', 'in', transactionIds)
    .orderBy('id')
    .execute();
}
