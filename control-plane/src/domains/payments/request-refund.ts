import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { moneyJson, type MoneyJson } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { getBalances } from '../billing/get-balance.ts';
import { microsPerMinor } from './minor-units.ts';
import { postPayment } from './post-payment.ts';
import { withTax } from './tax.ts';
import type { PaymentRow } from './settle-payment.ts';
import { tellRefund } from './settle-refunds.ts';

/** Takes the amount from the balance and asks the provider to give it back; what has none is given back by hand. */
export async function requestRefund(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  paymentId: string,
  asked: { amount: MoneyJson; reason: string },
  userId: string | null,
): Promise<PaymentRow> {
  const payment = await tx
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', paymentId)
    .forUpdate()
    .executeTakeFirst();
  if (!payment) throw notFound();
  const amount = BigInt(asked.amount.micros);
  await requireRefundable(tx, payment, asked.amount, amount);
  const now = clock.now();
  const id = newId();
  const byHand = payment.provider === 'manual';
  const ledger_transaction_id = await postPayment(tx, {
    payment,
    kind: 'refund',
    paid: -amount,
    cause: `refund:${id}`,
    reason: asked.reason,
    actorUserId: userId,
  });
  const refund = { amount_micros: amount, reason: asked.reason };
  await tx
    .insertInto('payment_refunds')
    .values({
      ...refund,
      id,
      organization_id: payment.organization_id,
      payment_id: paymentId,
      state: byHand ? 'succeeded' : 'requested',
      requested_by: userId,
      ledger_transaction_id,
      created_at: now,
      settled_at: byHand ? now : null,
      next_look_at: byHand ? null : now,
    })
    .execute();
  if (byHand) await tellRefund(tx, payment, refund);
  return payment;
}

async function requireRefundable(
  tx: Tx,
  payment: PaymentRow,
  asked: MoneyJson,
  amount: bigint,
): Promise<void> {
  const { currency } = payment;
  if (payment.state !== 'succeeded') throw refused('nothing was received');
  if (asked.currency !== currency) throw refused(`it was paid in ${currency}`);
  const smallest = microsPerMinor(currency) ?? 1n;
  if (amount % smallest !== 0n) throw refused(`only multiples of ${smallest} can be given back`);
  const gone = await tx
    .selectFrom('payment_refunds')
    .select('amount_micros')
    .where('payment_id', '=', payment.id)
    .where('state', '<>', 'failed')
    .execute();
  const disputed = await tx
    .selectFrom('payment_disputes')
    .select('amount_micros')
    .where('payment_id', '=', payment.id)
    .where('state', '<>', 'won')
    .execute();
  const left = [...gone, ...disputed].reduce(
    (rest, row) => rest - row.amount_micros,
    payment.received_micros!,
  );
  const balance = (await getBalances(tx, payment.organization_id)).find((b) => b.currency === currency);
  // The tax goes back beside what the balance covers.
  const refundable = smallestOf(left, withTax(balance?.micros ?? 0n, payment.tax_basis_points));
  if (amount > refundable) {
    throw refused('more is asked for than is left of the payment and of the balance', {
      refundable: moneyJson({ currency, micros: refundable > 0n ? refundable : 0n }),
    });
  }
}

function smallestOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function refused(detail: string, extensions: Record<string, unknown> = {}): Problem {
  return new Problem('refund_refused', `It cannot be refunded: ${detail}.`, { extensions });
}
