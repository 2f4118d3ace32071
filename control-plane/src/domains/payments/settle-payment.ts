import type { Selectable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Payments } from '../../platform/db/generated/schema.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { recordFailedTopUp } from './auto-top-up/record-failed-top-up.ts';
import { nextPollAt } from './next-poll.ts';
import { creditPayment } from './credit-payment.ts';
import type { ObservedPayment } from './provider.ts';
import { settleDisputes } from './refunds/settle-disputes.ts';
import { settleRefunds } from './refunds/settle-refunds.ts';
import { isFinalState, isForwardTransition, type PaymentState } from './states.ts';

export type PaymentRow = Selectable<Payments>;

/**
 * Updates a payment to the provider's state. Repeated or late reports change nothing: states only move
 * forward, and each movement of money is posted under the provider's id.
 */
export async function settlePayment(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  paymentId: string,
  observed: ObservedPayment,
): Promise<void> {
  const now = services.clock.now();
  let payment = await lockPayment(tx, paymentId);
  const to: PaymentState = observed.state;
  if (isForwardTransition(payment.state, to)) {
    payment = await move(services, tx, payment, observed, now);
  } else if (!isFinalState(payment.state)) {
    payment = await tx
      .updateTable('payments')
      .set({
        ...failureOf(observed),
        next_look_at: nextPollAt(now, payment.looks),
        looks: payment.looks + 1,
      })
      .where('id', '=', paymentId)
      .returningAll()
      .executeTakeFirstOrThrow();
  }
  if (payment.state !== 'succeeded') return;
  await settleRefunds(tx, payment, observed.refunds, now);
  await settleDisputes(tx, payment, observed.disputes, now);
}

export async function lockPayment(tx: Tx, paymentId: string): Promise<PaymentRow> {
  return await tx
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', paymentId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

async function move(
  services: Pick<Services, 'policies'>,
  tx: Tx,
  payment: PaymentRow,
  observed: ObservedPayment,
  now: Date,
): Promise<PaymentRow> {
  if (observed.state === 'succeeded') return await creditPayment(tx, payment, observed, now);
  const over = isFinalState(observed.state);
  const moved = await tx
    .updateTable('payments')
    .set({
      state: observed.state,
      ...(observed.paymentRef ? { payment_ref: observed.paymentRef } : {}),
      ...failureOf(observed),
      ...(over
        ? { settled_at: now, next_look_at: null, checkout_url: null }
        : { next_look_at: nextPollAt(now, 0), looks: 1 }),
    })
    .where('id', '=', payment.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (over) await notifyFailure(services, tx, moved, now);
  return moved;
}

function failureOf({ failure }: ObservedPayment): { failure_code?: string; failure_detail?: string } {
  return failure
    ? { failure_code: failure.code.slice(0, 100), failure_detail: failure.detail.slice(0, 500) }
    : {};
}

async function notifyFailure(
  services: Pick<Services, 'policies'>,
  tx: Tx,
  payment: PaymentRow,
  now: Date,
): Promise<void> {
  const reason = payment.failure_detail ?? 'It was not paid in time.';
  await emit(tx, {
    type: 'payments.payment_failed',
    subjectId: payment.id,
    organizationId: payment.organization_id,
    correlationId: newId(),
    payload: {
      payment_id: payment.id,
      organization_id: payment.organization_id,
      purpose: payment.purpose,
      currency: payment.currency,
      amount_micros: Number(payment.amount_micros),
      reason,
    },
  });
  if (payment.purpose === 'auto_top_up') await recordFailedTopUp(services, tx, payment, reason, now);
}
