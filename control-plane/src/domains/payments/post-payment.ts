import type { Tx } from '../../platform/db/database.ts';
import { postTransaction } from '../billing/post-transaction.ts';

interface Movement {
  payment: { id: string; organization_id: string; currency: string; correlation_id: string };
  kind: 'payment' | 'refund' | 'dispute';
  /** What the tenant's balance gains. */
  gain: bigint;
  /** The provider's name of what happened: the same both times when it is told twice. */
  cause: string;
  reason: string;
  actorUserId?: string | null;
}

/** One movement between a tenant's balance and the outside. Returns the ledger transaction, new or as it was posted. */
export async function postPayment(tx: Tx, movement: Movement): Promise<string> {
  const { payment, kind, gain, cause, reason, actorUserId } = movement;
  const { transaction } = await postTransaction(tx, {
    organizationId: payment.organization_id,
    kind,
    currency: payment.currency,
    gains: { tenant_balance: gain, payments: -gain },
    postingKey: cause,
    reason,
    actorUserId: actorUserId ?? null,
    correlationId: payment.correlation_id,
    metadata: { payment_id: payment.id },
  });
  return transaction.id;
}
