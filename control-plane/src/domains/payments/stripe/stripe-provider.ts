import { Stripe } from 'stripe';
import { toMinor } from '../minor-units.ts';
import {
  ProviderRefusedError,
  InvalidSignatureError,
  type ObservedPayment,
  type PaymentProvider,
  type ProviderPayment,
} from '../provider.ts';
import { methodOf, observeCheckout, observeDispute, observeIntent, observeRefund } from './observe.ts';
import { readStripeEvent, STRIPE_EVENT_TYPES } from './stripe-event.ts';
import { present } from '../../../platform/present.ts';

export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  /** Defaults to Stripe's own. */
  apiUrl?: URL | null;
}

const TIMEOUT_MS = 10_000;
const PAGE = 100;

/** Payments through Stripe: its checkout page, and payment intents for saved methods. */
export function stripeProvider(settings: StripeSettings, publicUrl: string): PaymentProvider {
  const stripe = new Stripe(settings.secretKey, {
    ...(settings.apiUrl ? addressOf(settings.apiUrl) : {}),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
  });
  return {
    name: 'stripe',
    async createCustomer({ id, name }) {
      const customer = await asked(() =>
        stripe.customers.create(
          { name, metadata: { organization_id: id } },
          { idempotencyKey: `customer:${id}` },
        ),
      );
      return customer.id;
    },
    begin: (payment) => asked(() => begin(stripe, payment, publicUrl)),
    charge: (payment) => asked(() => charge(stripe, payment)),
    observe: (payment) => asked(() => observe(stripe, payment)),
    async refund(payment, refund) {
      const made = await asked(() => refundsOf(stripe, present(payment.paymentRef, 'payment reference')));
      if (made.some(({ metadata }) => metadata?.['refund_id'] === refund.id)) return;
      await asked(() =>
        stripe.refunds.create(
          {
            payment_intent: present(payment.paymentRef, 'payment reference'),
            amount: toMinor(payment.currency, refund.amountMicros),
            metadata: { refund_id: refund.id, payment_id: payment.id },
          },
          { idempotencyKey: `refund:${refund.id}` },
        ),
      );
    },
    readEvent(body, signature, now) {
      try {
        return readStripeEvent(
          stripe.webhooks.constructEvent(
            body,
            signature,
            settings.webhookSecret,
            undefined,
            undefined,
            now.getTime(),
          ),
        );
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError)
          throw new InvalidSignatureError('the signature does not hold', { cause: error });
        throw error;
      }
    },
    async *eventsSince(since) {
      const events = await asked(() =>
        stripe.events
          .list({
            types: [...STRIPE_EVENT_TYPES],
            created: { gte: Math.floor(since.getTime() / 1000) },
            limit: PAGE,
          })
          .autoPagingToArray({ limit: 10_000 }),
      );
      for (const event of events.toReversed()) {
        const read = readStripeEvent(event);
        if (read) yield read;
      }
    },
  };
}

function addressOf(url: URL): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  return {
    host: url.hostname,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    protocol: url.protocol === 'https:' ? 'https' : 'http',
  };
}

/** Distinguishes a final refusal by Stripe from an error worth a retry. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError) {
      throw new ProviderRefusedError(error.code ?? 'invalid_request', error.message);
    }
    throw error;
  }
}

async function begin(
  stripe: Stripe,
  payment: ProviderPayment,
  publicUrl: string,
): ReturnType<PaymentProvider['begin']> {
  const { id, currency, customerRef, methodRef } = payment;
  const amount = toMinor(currency, payment.amountMicros);
  const metadata = { payment_id: id, organization_id: payment.organizationId };
  if (methodRef) {
    // Confirmed in a separate step: an intent whose id was never stored charges nothing.
    const intent = await stripe.paymentIntents.create(
      {
        amount,
        currency: currency.toLowerCase(),
        customer: present(customerRef, 'customer reference'),
        payment_method: methodRef,
        allowed_payment_method_types: ['card'],
        metadata,
      },
      { idempotencyKey: `payment:${id}` },
    );
    return { paymentRef: intent.id };
  }
  const back = `${publicUrl}/billing?payment=${id}`;
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      customer: present(customerRef, 'customer reference'),
      client_reference_id: id,
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: currency.toLowerCase(),
            unit_amount: amount,
            product_data: { name: 'Balance top-up' },
          },
        },
      ],
      payment_intent_data: {
        metadata,
        ...(payment.keepMethod ? { setup_future_usage: 'off_session' as const } : {}),
      },
      metadata,
      expires_at: Math.floor(present(payment.expiresAt, 'expiry').getTime() / 1000),
      success_url: back,
      cancel_url: back,
    },
    { idempotencyKey: `payment:${id}` },
  );
  return { checkoutRef: session.id, ...(session.url ? { checkoutUrl: session.url } : {}) };
}

/**
 * No payer is present to try another card or to authenticate: an intent left in such a state is cancelled.
 */
const LEFT_OPEN: readonly string[] = ['requires_payment_method', 'requires_action', 'requires_confirmation'];

async function charge(stripe: Stripe, payment: ProviderPayment): Promise<void> {
  const ref = present(payment.paymentRef, 'payment reference');
  const before = await stripe.paymentIntents.retrieve(ref);
  if (before.status === 'requires_confirmation') await confirm(stripe, ref);
  const { status } = await stripe.paymentIntents.retrieve(ref);
  if (LEFT_OPEN.includes(status)) {
    await stripe.paymentIntents.cancel(ref, undefined, { idempotencyKey: `cancel:${payment.id}` });
  }
}

/** A decline is no error here; the intent is polled next. */
async function confirm(stripe: Stripe, ref: string): Promise<void> {
  try {
    await stripe.paymentIntents.confirm(ref, { off_session: true }, { idempotencyKey: `confirm:${ref}` });
  } catch (error) {
    const { StripeCardError, StripeInvalidRequestError } = Stripe.errors;
    if (!(error instanceof StripeCardError || error instanceof StripeInvalidRequestError)) throw error;
  }
}

async function observe(stripe: Stripe, payment: ProviderPayment): Promise<ObservedPayment> {
  const observed = payment.checkoutRef
    ? observeCheckout(
        await stripe.checkout.sessions.retrieve(payment.checkoutRef, { expand: ['payment_intent'] }),
      )
    : observeIntent(await stripe.paymentIntents.retrieve(present(payment.paymentRef, 'payment reference')));
  const none = { method: null, refunds: [], disputes: [] };
  if (observed.state !== 'succeeded') return { ...observed, ...none };
  const ref = present(observed.paymentRef, 'payment reference');
  const intent = await stripe.paymentIntents.retrieve(ref, { expand: ['payment_method'] });
  const disputes = await stripe.disputes
    .list({ payment_intent: ref, limit: PAGE })
    .autoPagingToArray({ limit: 1000 });
  return {
    ...observed,
    method: payment.keepMethod ? methodOf(intent) : null,
    refunds: (await refundsOf(stripe, ref)).map(observeRefund),
    disputes: disputes.flatMap((dispute) => observeDispute(dispute) ?? []),
  };
}

async function refundsOf(stripe: Stripe, ref: string): Promise<Stripe.Refund[]> {
  return await stripe.refunds.list({ payment_intent: ref, limit: PAGE }).autoPagingToArray({ limit: 1000 });
}
