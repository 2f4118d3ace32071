import type { Selectable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { PaymentRefunds } from '../../../platform/db/generated/schema.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import { nextPollAt } from '../next-poll.ts';
import { postPayment } from '../post-payment.ts';
import type { ObservedRefund } from '../provider.ts';
import type { PaymentRow } from '../settle-payment.ts';
import { isForwardRefundTransition } from '../states.ts';

export type RefundRow = Selectable<PaymentRefunds>;

/** Updates the refunds of a locked payment to the provider's state; records refunds made at the provider. */
export async function settleRefunds(
  tx: Tx,
  payment: PaymentRow,
  observed: readonly ObservedRefund[],
  now: Date,
): Promise<void> {
  const known = await tx
    .selectFrom('payment_refunds')
    .selectAll()
    .where('payment_id', '=', payment.id)
    .forUpdate()
    .execute();
  for (const refund of observed) {
    const row =
      known.find(({ provider_ref }) => provider_ref === refund.ref) ??
      known.find(({ id }) => id === refund.refundId) ??
      (await adoptRefund(tx, payment, refund, now));
    await settleRefund(tx, payment, row, refund, now);
  }
  // Refunds without a provider's id are requested again.
  const named = new Set(observed.map(({ refundId }) => refundId));
  for (const row of known.filter(({ id, state }) => state === 'requested' && !named.has(id))) {
    await tx
      .updateTable('payment_refunds')
      .set({ next_look_at: nextPollAt(now, row.looks), looks: row.looks + 1 })
      .where('id', '=', row.id)
      .execute();
  }
}

async function adoptRefund(
  tx: Tx,
  payment: PaymentRow,
  refund: ObservedRefund,
  now: Date,
): Promise<RefundRow> {
  const reason = 'Refunded at the payment provider';
  const ledger_transaction_id = await postPayment(tx, {
    payment,
    kind: 'refund',
    paid: -refund.amountMicros,
    cause: `refund:${payment.provider}:${refund.ref}`,
    reason,
  });
  return await tx
    .insertInto('payment_refunds')
    .values({
      id: newId(),
      organization_id: payment.organization_id,
      payment_id: payment.id,
      provider_ref: refund.ref,
      state: 'requested',
      amount_micros: refund.amountMicros,
      reason,
      ledger_transaction_id,
      created_at: now,
      next_look_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function settleRefund(
  tx: Tx,
  payment: PaymentRow,
  row: RefundRow,
  { state, ref }: Pick<ObservedRefund, 'state' | 'ref'>,
  now: Date,
): Promise<void> {
  if (!isForwardRefundTransition(row.state, state)) {
    if (row.next_look_at === null) return;
    await tx
      .updateTable('payment_refunds')
      .set({ next_look_at: nextPollAt(now, row.looks), looks: row.looks + 1 })
      .where('id', '=', row.id)
      .execute();
    return;
  }
  if (state === 'failed') return await reverseRefund(tx, payment, row, ref, now);
  await tx
    .updateTable('payment_refunds')
    .set({
      state,
      provider_ref: ref,
      ...(state === 'succeeded'
        ? { settled_at: now, next_look_at: null }
        : { next_look_at: nextPollAt(now, 0), looks: 1 }),
    })
    .where('id', '=', row.id)
    .execute();
  if (state === 'succeeded') await emitRefunded(tx, payment, row);
}

/** The refund failed, so the amount is credited again. */
export async function reverseRefund(
  tx: Tx,
  payment: PaymentRow,
  row: RefundRow,
  ref: string | null,
  now: Date,
): Promise<void> {
  const returned = await postPayment(tx, {
    payment,
    kind: 'refund',
    paid: row.amount_micros,
    cause: `refund-failed:${row.id}`,
    reason: 'The refund could not be made',
  });
  await tx
    .updateTable('payment_refunds')
    .set({
      state: 'failed',
      ...(ref ? { provider_ref: ref } : {}),
      returned_transaction_id: returned,
      settled_at: now,
      next_look_at: null,
    })
    .where('id', '=', row.id)
    .execute();
}

export async function emitRefunded(
  tx: Tx,
  payment: PaymentRow,
  row: Pick<RefundRow, 'amount_micros' | 'reason'>,
): Promise<void> {
  await emit(tx, {
    type: 'payments.refunded',
    subjectId: payment.id,
    organizationId: payment.organization_id,
    correlationId: newId(),
    payload: {
      payment_id: payment.id,
      organization_id: payment.organization_id,
      currency: payment.currency,
      amount_micros: Number(row.amount_micros),
      reason: row.reason,
    },
  });
}
