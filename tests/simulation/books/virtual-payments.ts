import type { ObservedPayment } from '@gpuaas/control-plane/domains/payments/provider';
import { settlePayment } from '@gpuaas/control-plane/domains/payments/settle-payment';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import type { SeededRandom } from '../../harness/seeded-random.ts';

/** Dies after the work and before the commit. */
class SimulatedCrash extends Error {}

/** A cent in micro-units. */
const CENT = 10_000n;

/**
 * Payments of tenants as a provider processes them: started, paid or declined, refunded and disputed. Each
 * change leaves a snapshot, and snapshots are delivered in any order, more than once, and to workers that
 * die.
 */
export class VirtualPayments {
  readonly #db: Db;
  readonly #services: Services;
  readonly #random: SeededRandom;
  readonly #pending: { paymentId: string; observed: ObservedPayment }[] = [];
  count = 0;
  crashes = 0;

  constructor(db: Db, services: Services, random: SeededRandom) {
    this.#db = db;
    this.#services = services;
    this.#random = random;
  }

  /** A payment with its whole later life. Returns its final effect on the tenant's balance. */
  async live(organizationId: string): Promise<bigint> {
    const random = this.#random;
    const id = newId();
    const ref = `pi_${id}`;
    const amount = BigInt(random.between(500, 500_000)) * CENT;
    this.count += 1;
    const now = this.#services.clock.now();
    await this.#db
      .insertInto('payments')
      .values({
        id,
        organization_id: organizationId,
        provider: 'stripe',
        purpose: 'top_up',
        state: 'created',
        currency: 'USD',
        amount_micros: amount,
        checkout_ref: `cs_${id}`,
        correlation_id: newId(),
        created_at: now,
        next_look_at: now,
      })
      .execute();
    const open: ObservedPayment = {
      state: 'open',
      paymentRef: null,
      receivedMicros: null,
      failure: null,
      method: null,
      refunds: [],
      disputes: [],
    };
    const report = (observed: ObservedPayment): void => void this.#pending.push({ paymentId: id, observed });
    report(open);
    report({ ...open, state: 'processing' });
    if (random.chance(0.2)) {
      report({ ...open, state: random.chance(0.5) ? 'failed' : 'expired' });
      return 0n;
    }
    const paid: ObservedPayment = { ...open, state: 'succeeded', paymentRef: ref, receivedMicros: amount };
    report(paid);
    if (random.chance(0.3)) return amount - this.#refunded(paid, amount, id, report);
    if (random.chance(0.2)) return amount - this.#disputed(paid, amount, id, report);
    return amount;
  }

  /** Outcome of a payment that the platform started: charged or declined. Returns its amount. */
  charge(paymentId: string, amount: bigint): bigint {
    this.count += 1;
    const observed: ObservedPayment = {
      state: 'processing',
      paymentRef: null,
      receivedMicros: null,
      failure: null,
      method: null,
      refunds: [],
      disputes: [],
    };
    const declined = this.#random.chance(0.2);
    this.#pending.push({ paymentId, observed });
    this.#pending.push({
      paymentId,
      observed: declined
        ? { ...observed, state: 'failed', failure: { code: 'card_declined', detail: 'Declined' } }
        : { ...observed, state: 'succeeded', paymentRef: `pi_${paymentId}`, receivedMicros: amount },
    });
    return declined ? 0n : amount;
  }

  #refunded(
    paid: ObservedPayment,
    amount: bigint,
    id: string,
    report: (observed: ObservedPayment) => void,
  ): bigint {
    const part = this.#random.chance(0.5) ? amount : amount / 2n;
    const refund = { ref: `re_${id}`, refundId: null, amountMicros: part };
    report({ ...paid, refunds: [{ ...refund, state: 'pending' }] });
    report({ ...paid, refunds: [{ ...refund, state: 'succeeded' }] });
    if (!this.#random.chance(0.3)) return part;
    report({ ...paid, refunds: [{ ...refund, state: 'failed' }] });
    return 0n;
  }

  #disputed(
    paid: ObservedPayment,
    amount: bigint,
    id: string,
    report: (observed: ObservedPayment) => void,
  ): bigint {
    const dispute = { ref: `dp_${id}`, amountMicros: amount, reason: 'fraudulent' };
    const won = this.#random.chance(0.5);
    report({ ...paid, disputes: [{ ...dispute, state: 'open' }] });
    report({ ...paid, disputes: [{ ...dispute, state: won ? 'won' : 'lost' }] });
    return won ? 0n : amount;
  }

  /** Delivers some of the events in random order; all of them at the end. */
  async tellSome(all = false): Promise<void> {
    while (this.#pending.length > 0 && (all || this.#random.chance(0.7))) {
      const index = this.#random.between(0, this.#pending.length - 1);
      const { paymentId, observed } = this.#pending[index]!;
      const dies = this.#random.chance(0.15);
      const times = this.#random.between(1, 2);
      await Promise.all(Array.from({ length: times }, () => this.#settle(paymentId, observed, dies)));
      if (!dies) this.#pending.splice(index, 1);
    }
  }

  async #settle(paymentId: string, observed: ObservedPayment, dies: boolean): Promise<void> {
    try {
      await this.#db.transaction().execute(async (tx) => {
        await settlePayment(this.#services, tx, paymentId, observed);
        if (dies) throw new SimulatedCrash();
      });
    } catch (error) {
      if (!(error instanceof SimulatedCrash)) throw error;
      this.crashes += 1;
    }
  }
}
