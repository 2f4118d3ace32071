import type { Services } from '../../platform/services.ts';
import { findPayingOrganization, saveStripeCustomer } from '../tenancy/organizations/stripe-customer.ts';
import { ProviderRefusedError, type PaymentProvider, type ProviderPayment } from './provider.ts';
import { lockPayment, settlePayment, type PaymentRow } from './settle-payment.ts';
import { reverseRefund } from './refunds/settle-refunds.ts';
import { isFinalState } from './states.ts';

export type PaymentServices = Pick<Services, 'db' | 'policies' | 'clock' | 'log'>;

/**
 * Performs the next action for a payment: starts it, charges, requests refunds, polls and settles. Safe to
 * repeat after a crash or concurrently: the provider deduplicates each request by our id, and nothing is
 * charged before the provider's id is stored. The services act as a worker.
 */
export async function advancePayment(
  services: PaymentServices,
  provider: PaymentProvider,
  paymentId: string,
): Promise<void> {
  const { db } = services;
  const row = await db
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', paymentId)
    .executeTakeFirstOrThrow();
  if (row.provider !== provider.name) return;
  const payment = await begun(services, provider, row);
  if (!payment) return;
  if (payment.methodRef && !isFinalState(row.state)) await provider.charge(payment);
  await askForRefunds(services, provider, payment);
  const observed = await provider.observe(payment);
  await db.transaction().execute((tx) => settlePayment(services, tx, paymentId, observed));
}

/**
 * Advances the payment for a caller that does not depend on it: the reconciler retries if the provider does
 * not answer.
 */
export async function tryAdvancePayment(
  services: PaymentServices,
  provider: PaymentProvider | null,
  paymentId: string,
): Promise<void> {
  if (!provider) return;
  try {
    await advancePayment(services, provider, paymentId);
  } catch (error) {
    services.log.warn({ err: error, payment_id: paymentId }, 'the payment provider could not be asked');
  }
}

/** The payment as the provider knows it; null if the provider refused it. */
async function begun(
  services: PaymentServices,
  provider: PaymentProvider,
  row: PaymentRow,
): Promise<ProviderPayment | null> {
  const { db } = services;
  const method = row.payment_method_id
    ? await db
        .selectFrom('payment_methods')
        .select('provider_ref')
        .where('id', '=', row.payment_method_id)
        .executeTakeFirstOrThrow()
    : null;
  const payment: ProviderPayment = {
    id: row.id,
    organizationId: row.organization_id,
    customerRef: null,
    currency: row.currency,
    amountMicros: row.amount_micros,
    methodRef: method?.provider_ref ?? null,
    keepMethod: row.keep_method,
    checkoutRef: row.checkout_ref,
    paymentRef: row.payment_ref,
    expiresAt: row.expires_at,
  };
  if (payment.checkoutRef || payment.paymentRef) return payment;
  let refs: Awaited<ReturnType<PaymentProvider['begin']>>;
  try {
    const customerRef = await customerOf(db, provider, row.organization_id);
    refs = await provider.begin({ ...payment, customerRef });
  } catch (error) {
    if (!(error instanceof ProviderRefusedError)) throw error;
    await giveUp(services, row.id, error);
    return null;
  }
  await db
    .updateTable('payments')
    .set({
      checkout_ref: refs.checkoutRef ?? null,
      payment_ref: refs.paymentRef ?? null,
      checkout_url: refs.checkoutUrl ?? null,
    })
    .where('id', '=', row.id)
    // A concurrent call would have stored the same value.
    .where('checkout_ref', 'is', null)
    .where('payment_ref', 'is', null)
    .execute();
  return { ...payment, checkoutRef: refs.checkoutRef ?? null, paymentRef: refs.paymentRef ?? null };
}

async function customerOf(
  db: Services['db'],
  provider: PaymentProvider,
  organizationId: string,
): Promise<string | null> {
  const organization = await db.transaction().execute((tx) => findPayingOrganization(tx, organizationId));
  if (organization.stripeCustomerId) return organization.stripeCustomerId;
  const customer = await provider.createCustomer(organization);
  if (customer === null) return null;
  return await db.transaction().execute((tx) => saveStripeCustomer(tx, organizationId, customer));
}

async function askForRefunds(
  { db, clock, log }: PaymentServices,
  provider: PaymentProvider,
  payment: ProviderPayment,
): Promise<void> {
  const open = await db
    .selectFrom('payment_refunds')
    .select(['id', 'amount_micros'])
    .where('payment_id', '=', payment.id)
    .where('state', '=', 'requested')
    .where('provider_ref', 'is', null)
    .execute();
  for (const { id, amount_micros } of open) {
    try {
      await provider.refund(payment, { id, amountMicros: amount_micros });
    } catch (error) {
      if (!(error instanceof ProviderRefusedError)) throw error;
      log.warn({ payment_id: payment.id, refund_id: id, code: error.code }, 'a refund was refused');
      await db.transaction().execute(async (tx) => {
        const row = await lockPayment(tx, payment.id);
        const refund = await tx
          .selectFrom('payment_refunds')
          .selectAll()
          .where('id', '=', id)
          .where('state', '=', 'requested')
          .executeTakeFirst();
        if (refund) await reverseRefund(tx, row, refund, null, clock.now());
      });
    }
  }
}

async function giveUp(
  services: PaymentServices,
  paymentId: string,
  error: ProviderRefusedError,
): Promise<void> {
  services.log.warn({ payment_id: paymentId, code: error.code }, 'the payment provider refused a payment');
  await services.db.transaction().execute((tx) =>
    settlePayment(services, tx, paymentId, {
      state: 'failed',
      paymentRef: null,
      receivedMicros: null,
      failure: { code: error.code, detail: 'The payment provider refused the payment.' },
      method: null,
      refunds: [],
      disputes: [],
    }),
  );
}
