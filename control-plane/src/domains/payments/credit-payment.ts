import { present } from '../../platform/present.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import { getBalances } from '../billing/ledger/get-balance.ts';
import { savePaymentMethod } from './methods/save-payment-method.ts';
import { postPayment } from './post-payment.ts';
import type { ObservedPayment } from './provider.ts';
import type { PaymentRow } from './settle-payment.ts';

/** Credits the received amount, even if it differs from the requested one. The payment must be locked. */
export async function creditPayment(
  tx: Tx,
  payment: PaymentRow,
  observed: ObservedPayment,
  now: Date,
): Promise<PaymentRow> {
  const received = present(observed.receivedMicros, 'received amount');
  const ref = present(observed.paymentRef, 'payment reference');
  const transactionId = await postPayment(tx, {
    payment,
    kind: 'payment',
    paid: received,
    cause: `payment:${payment.provider}:${ref}`,
    reason: payment.purpose === 'auto_top_up' ? 'Automatic top-up' : 'Top-up',
    actorUserId: payment.created_by,
  });
  const { organization_id, provider } = payment;
  if (observed.method) {
    if (provider === 'manual') throw new Error(`manual payment ${payment.id} names a method of a provider`);
    await savePaymentMethod(tx, { organization_id, provider }, observed.method, now);
  }
  const credited = await tx
    .updateTable('payments')
    .set({
      state: 'succeeded',
      payment_ref: ref,
      received_micros: received,
      ledger_transaction_id: transactionId,
      checkout_url: null,
      failure_code: null,
      failure_detail: null,
      settled_at: now,
      next_look_at: null,
    })
    .where('id', '=', payment.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await emitBalanceCredited(tx, credited);
  return credited;
}

export async function emitBalanceCredited(tx: Tx, payment: PaymentRow): Promise<void> {
  const balances = await getBalances(tx, payment.organization_id);
  const balance = balances.find(({ currency }) => currency === payment.currency);
  await emit(tx, {
    type: 'payments.balance_credited',
    subjectId: payment.id,
    organizationId: payment.organization_id,
    correlationId: newId(),
    payload: {
      payment_id: payment.id,
      organization_id: payment.organization_id,
      provider: payment.provider,
      purpose: payment.purpose,
      currency: payment.currency,
      amount_micros: Number(payment.received_micros),
      balance_micros: Number(balance?.micros ?? 0n),
    },
  });
}
