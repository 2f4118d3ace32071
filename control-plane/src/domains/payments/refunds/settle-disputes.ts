import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import { openIncident, resolveIncident } from '../../incidents/open-incident.ts';
import { postPayment } from '../post-payment.ts';
import type { ObservedDispute } from '../provider.ts';
import type { PaymentRow } from '../settle-payment.ts';

/**
 * A dispute withdraws the amount until it is decided; if won, it is credited again. The payment must be
 * locked.
 */
export async function settleDisputes(
  tx: Tx,
  payment: PaymentRow,
  observed: readonly ObservedDispute[],
  now: Date,
): Promise<void> {
  for (const dispute of observed) {
    const known = await tx
      .selectFrom('payment_disputes')
      .select(['id', 'state'])
      .where('provider_ref', '=', dispute.ref)
      .executeTakeFirst();
    const id = known?.id ?? (await openDispute(tx, payment, dispute, now));
    const open = known === undefined || known.state === 'open';
    if (open && dispute.state !== 'open') await closeDispute(tx, payment, id, dispute, now);
  }
}

async function openDispute(
  tx: Tx,
  payment: PaymentRow,
  dispute: ObservedDispute,
  now: Date,
): Promise<string> {
  const withdrawn = await postPayment(tx, {
    payment,
    kind: 'dispute',
    paid: -dispute.amountMicros,
    cause: `dispute:${payment.provider}:${dispute.ref}`,
    reason: `Withdrawn while a payment is disputed (${dispute.reason})`,
  });
  const row = await tx
    .insertInto('payment_disputes')
    .values({
      id: newId(),
      organization_id: payment.organization_id,
      payment_id: payment.id,
      provider_ref: dispute.ref,
      state: 'open',
      amount_micros: dispute.amountMicros,
      reason: dispute.reason,
      withdrawn_transaction_id: withdrawn,
      opened_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await openIncident(tx, now, {
    type: 'payment_disputed',
    targetType: 'payment',
    targetId: payment.id,
    summary: `A payment is disputed (${dispute.reason}); evidence may have to be given in time.`,
    detail: { organization_id: payment.organization_id },
    dedupeBy: row.id,
  });
  await emitDispute(tx, payment, { ...dispute, state: 'open' });
  return row.id;
}

async function closeDispute(
  tx: Tx,
  payment: PaymentRow,
  id: string,
  dispute: ObservedDispute,
  now: Date,
): Promise<void> {
  const returned =
    dispute.state === 'won'
      ? await postPayment(tx, {
          payment,
          kind: 'dispute',
          paid: dispute.amountMicros,
          cause: `dispute-won:${payment.provider}:${dispute.ref}`,
          reason: 'Returned: the dispute was decided for us',
        })
      : null;
  await tx
    .updateTable('payment_disputes')
    .set({ state: dispute.state, returned_transaction_id: returned, closed_at: now })
    .where('id', '=', id)
    .execute();
  await resolveIncident(
    tx,
    now,
    { type: 'payment_disputed', targetId: payment.id, dedupeBy: id },
    `The dispute was ${dispute.state}.`,
  );
  await emitDispute(tx, payment, dispute);
}

async function emitDispute(tx: Tx, payment: PaymentRow, dispute: ObservedDispute): Promise<void> {
  await emit(tx, {
    type: dispute.state === 'open' ? 'payments.dispute_opened' : 'payments.dispute_closed',
    subjectId: payment.id,
    organizationId: payment.organization_id,
    correlationId: newId(),
    payload: {
      payment_id: payment.id,
      organization_id: payment.organization_id,
      currency: payment.currency,
      amount_micros: Number(dispute.amountMicros),
      state: dispute.state,
      reason: dispute.reason,
    },
  });
}
