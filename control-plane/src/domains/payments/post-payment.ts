import type { Tx } from '../../platform/db/database.ts';
import { postTransaction } from '../billing/ledger/post-transaction.ts';
import { includedTax } from './tax.ts';

interface Movement {
  payment: {
    id: string;
    organization_id: string;
    currency: string;
    correlation_id: string;
    tax_basis_points: number;
  };
  kind: 'payment' | 'refund' | 'dispute';
  /** Amount received from outside, tax included; negative for a refund. */
  paid: bigint;
  /** The provider's id of the event: identical if it is reported twice. */
  cause: string;
  reason: string;
  actorUserId?: string | null;
}

/** One movement between a tenant's balance and the outside; the tax in it goes to its own account. Returns the ledger transaction, new or as it was posted. */
export async function postPayment(tx: Tx, movement: Movement): Promise<string> {
  const { payment, kind, paid, cause, reason, actorUserId } = movement;
  const tax = includedTax(paid, payment.tax_basis_points);
  const { transaction } = await postTransaction(tx, {
    organizationId: payment.organization_id,
    kind,
    currency: payment.currency,
    gains: { tenant_balance: paid - tax, payments: -paid, ...(tax === 0n ? {} : { tax }) },
    postingKey: cause,
    reason,
    actorUserId: actorUserId ?? null,
    correlationId: payment.correlation_id,
    metadata: { payment_id: payment.id },
  });
  return transaction.id;
}
