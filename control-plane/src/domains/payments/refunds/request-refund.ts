import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { moneyJson, type MoneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { accountKey, lockCommitments } from '../../billing/funds/commitments.ts';
import { costFor, keptBeside } from '../../billing/funds/covers.ts';
import { readFunds } from '../../billing/funds/tenant-funds.ts';
import { microsPerMinor } from '../minor-units.ts';
import { postPayment } from '../post-payment.ts';
import { addTax } from '../tax.ts';
import type { PaymentRow } from '../settle-payment.ts';
import { emitRefunded } from './settle-refunds.ts';
import { present } from '../../../platform/present.ts';

/**
 * Takes the amount from the balance and requests the refund from the provider; without a provider it is
 * refunded manually.
 */
export async function requestRefund(
  services: Pick<Services, 'clock' | 'policies'>,
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
  await requireRefundable(services, tx, payment, asked.amount, amount);
  const now = services.clock.now();
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
  if (byHand) await emitRefunded(tx, payment, refund);
  return payment;
}

async function requireRefundable(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  payment: PaymentRow,
  asked: MoneyJson,
  amount: bigint,
): Promise<void> {
  const { currency } = payment;
  if (payment.state !== 'succeeded') throw refused('nothing was received');
  if (asked.currency !== currency) throw refused(`it was paid in ${currency}`);
  const smallest = microsPerMinor(currency) ?? 1n;
  if (amount % smallest !== 0n) throw refused(`only multiples of ${smallest} can be refunded`);
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
    present(payment.received_micros, 'received amount'),
  );
  const free = await refundableBalance(services, tx, payment);
  // The tax goes back beside what the balance covers.
  const refundable = smallestOf(left, addTax(free, payment.tax_basis_points));
  if (amount > refundable) {
    throw refused('more is asked for than is left of the payment and of the balance', {
      refundable: moneyJson({ currency, micros: refundable > 0n ? refundable : 0n }),
    });
  }
}

/** The balance without what has accrued and what is held for reservations, as nobody else decides about it meanwhile. */
async function refundableBalance(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  { organization_id: organizationId, currency }: PaymentRow,
): Promise<bigint> {
  const commitments = await lockCommitments(tx, [organizationId]);
  const funds = (await readFunds(tx, clock.now(), organizationId)).find((one) => one.currency === currency);
  if (!funds) return 0n;
  const kept = keptBeside(commitments.get(accountKey(organizationId, currency))?.kept ?? [], []);
  const holdSeconds = policies.get('reservations.hold_seconds', { organizationId });
  return funds.balanceMicros - funds.accruedMicros - costFor(kept, holdSeconds);
}

function smallestOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function refused(detail: string, extensions: Record<string, unknown> = {}): Problem {
  return new Problem('refund_refused', `It cannot be refunded: ${detail}.`, { extensions });
}
