import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { postTransaction, type PostedTransaction } from './post-transaction.ts';
import { requireCurrency } from '../funds/require-currency.ts';

export interface Adjustment {
  organizationId: string;
  actorUserId: string | null;
  correlationId: string;
  body: components['schemas']['PostLedgerAdjustment'];
}

/** An operator changes a tenant's balance, with a reason that the tenant sees. */
export async function adjustBalance(tx: Tx, adjustment: Adjustment): Promise<PostedTransaction> {
  const { organizationId, body } = adjustment;
  const { kind, amount, reason, corrects_entry_id: corrects } = body;
  await requireOrganization(tx, organizationId);
  await requireCurrency(tx, amount.currency);
  if (amount.micros === 0) throw refused('/amount/micros', 'zero changes nothing');
  if (kind === 'credit' && amount.micros < 0) {
    throw refused('/amount/micros', 'a credit is positive; use an adjustment to take something back');
  }
  if (corrects) await requireCorrectable(tx, organizationId, kind, amount.currency, corrects);
  const gain = BigInt(amount.micros);
  return await postTransaction(tx, {
    organizationId,
    kind,
    currency: amount.currency,
    gains: { tenant_balance: gain, [kind === 'credit' ? 'credits' : 'adjustments']: -gain },
    // Each decision is a separate entry; the idempotency key makes a repeated request safe.
    postingKey: `${kind}:${newId()}`,
    reason,
    actorUserId: adjustment.actorUserId,
    correlationId: adjustment.correlationId,
    ...(corrects ? { metadata: { corrects_entry_id: corrects } } : {}),
  });
}

async function requireOrganization(tx: Tx, organizationId: string): Promise<void> {
  const row = await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound();
}

async function requireCorrectable(
  tx: Tx,
  organizationId: string,
  kind: string,
  currency: string,
  entryId: string,
): Promise<void> {
  if (kind !== 'adjustment') throw refused('/corrects_entry_id', 'only an adjustment corrects an entry');
  const entry = await tx
    .selectFrom('ledger_entries')
    .select('currency')
    .where('id', '=', entryId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!entry) throw refused('/corrects_entry_id', 'is not an entry of this tenant’s ledger');
  if (entry.currency !== currency) {
    throw refused('/amount/currency', `the entry to correct is in ${entry.currency}`);
  }
}

function refused(pointer: string, detail: string): Problem {
  return new Problem('adjustment_refused', `The adjustment cannot be posted: ${detail}.`, {
    errors: [{ pointer, detail }],
  });
}
