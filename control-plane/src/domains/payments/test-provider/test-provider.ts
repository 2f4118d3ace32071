import { isKeyOf } from '@gpuaas/contracts/typed-keys';
import type { Db } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/clock.ts';
import { InvalidSignatureError, type ObservedPayment, type PaymentProvider } from '../provider.ts';
import { testCards, type TestCard } from './test-cards.ts';

/** Moves no money: for the demo and for trying the product. */
export function testProvider({ db, clock }: { db: Db; clock: Clock }): PaymentProvider {
  const chargeOf = (paymentId: string) =>
    db
      .selectFrom('test_charges')
      .select(['card', 'state'])
      .where('payment_id', '=', paymentId)
      .executeTakeFirst();
  return {
    name: 'test',
    createCustomer: () => Promise.resolve(null),
    begin: (payment) =>
      Promise.resolve(
        payment.methodRef ? { paymentRef: `charge:${payment.id}` } : { checkoutRef: `test:${payment.id}` },
      ),
    async charge(payment) {
      const card = testCard(payment.methodRef);
      await db
        .insertInto('test_charges')
        .values({
          payment_id: payment.id,
          card,
          state: testCards[card].later ? 'failed' : 'succeeded',
          charged_at: clock.now(),
        })
        .onConflict((c) => c.column('payment_id').doNothing())
        .execute();
    },
    async observe(payment): Promise<ObservedPayment> {
      const charge = await chargeOf(payment.id);
      const nothing = { receivedMicros: null, method: null, refunds: [], disputes: [] };
      if (!charge) {
        const expired = payment.expiresAt !== null && payment.expiresAt <= clock.now();
        return { ...nothing, state: expired ? 'expired' : 'open', paymentRef: null, failure: null };
      }
      const card = testCard(charge.card);
      const paymentRef = `charge:${payment.id}`;
      if (charge.state === 'failed')
        return { ...nothing, state: 'failed', paymentRef, failure: testCards[card].later };
      const refunds = await db
        .selectFrom('payment_refunds')
        .select(['id', 'amount_micros'])
        .where('payment_id', '=', payment.id)
        .execute();
      return {
        state: 'succeeded',
        paymentRef,
        receivedMicros: payment.amountMicros,
        failure: null,
        method: payment.keepMethod ? { ref: card, label: `test card “${card}”` } : null,
        // Refunds succeed immediately.
        refunds: refunds.map(({ id, amount_micros }) => ({
          ref: `refund:${id}`,
          refundId: id,
          state: 'succeeded' as const,
          amountMicros: amount_micros,
        })),
        disputes: [],
      };
    },
    refund: () => Promise.resolve(),
    readEvent: () => {
      throw new InvalidSignatureError('the test provider sends no events');
    },
    eventsSince: async function* () {
      // It has no events: the payer gets the result in the response.
    },
  };
}

/** Pays with a test card. A declined one leaves the payment open, with the reason. */
export async function payWithTestCard(
  { db, clock }: { db: Db; clock: Clock },
  paymentId: string,
  card: TestCard,
): Promise<void> {
  const refused = testCards[card].now;
  if (refused) {
    await db
      .updateTable('payments')
      .set({ failure_code: refused.code, failure_detail: refused.detail })
      .where('id', '=', paymentId)
      .where('state', '=', 'open')
      .execute();
    return;
  }
  await db
    .insertInto('test_charges')
    .values({ payment_id: paymentId, card, state: 'succeeded', charged_at: clock.now() })
    .onConflict((c) => c.column('payment_id').doNothing())
    .execute();
}

function testCard(name: string | null): TestCard {
  if (name === null || !isKeyOf(testCards, name)) throw new Error(`no test card: ${name}`);
  return name;
}
