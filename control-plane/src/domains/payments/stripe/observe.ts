import type { Stripe } from 'stripe';
import { fromMinor } from '../minor-units.ts';
import type { ObservedDispute, ObservedPayment, ObservedRefund } from '../provider.ts';

/** State of a checkout page: it stays open for another card until it expires. */
export function observeCheckout(
  session: Stripe.Checkout.Session,
): Pick<ObservedPayment, 'state' | 'failure' | 'receivedMicros' | 'paymentRef'> {
  const intent = typeof session.payment_intent === 'object' ? session.payment_intent : null;
  const observed = intent ? observeIntent(intent) : NOTHING_YET;
  if (session.status === 'expired') return { ...observed, state: 'expired' };
  if (session.status === 'open') return { ...observed, state: 'open' };
  if (observed.state === 'succeeded' || observed.state === 'failed') return observed;
  return { ...observed, state: 'processing' };
}

const NOTHING_YET = { state: 'open', failure: null, receivedMicros: null, paymentRef: null } as const;

export function observeIntent(
  intent: Stripe.PaymentIntent,
): Pick<ObservedPayment, 'state' | 'failure' | 'receivedMicros' | 'paymentRef'> {
  const error = intent.last_payment_error;
  return {
    state: stateOf(intent.status),
    failure: error
      ? {
          code: error.decline_code ?? error.code ?? 'declined',
          detail: error.message ?? 'The payment was declined.',
        }
      : null,
    receivedMicros: intent.status === 'succeeded' ? fromMinor(intent.currency, intent.amount_received) : null,
    paymentRef: intent.id,
  };
}

function stateOf(status: Stripe.PaymentIntent.Status): ObservedPayment['state'] {
  if (status === 'succeeded') return 'succeeded';
  if (status === 'processing') return 'processing';
  // Declined without an automatic retry, or cancelled.
  if (status === 'canceled' || status === 'requires_payment_method') return 'failed';
  return 'open';
}

export function observeRefund(refund: Stripe.Refund): ObservedRefund {
  return {
    ref: refund.id,
    refundId: refund.metadata?.['refund_id'] ?? null,
    state:
      refund.status === 'succeeded'
        ? 'succeeded'
        : refund.status === 'failed' || refund.status === 'canceled'
          ? 'failed'
          : 'pending',
    amountMicros: fromMinor(refund.currency, refund.amount),
  };
}

/** Null for an inquiry, which withdraws no money. */
export function observeDispute(dispute: Stripe.Dispute): ObservedDispute | null {
  const { status } = dispute;
  if (status.startsWith('warning_') || status === 'prevented') return null;
  return {
    ref: dispute.id,
    state: status === 'won' ? 'won' : status === 'lost' ? 'lost' : 'open',
    amountMicros: fromMinor(dispute.currency, dispute.amount),
    reason: dispute.reason.slice(0, 100),
  };
}

export function methodOf(intent: Stripe.PaymentIntent): ObservedPayment['method'] {
  const method = intent.payment_method;
  if (typeof method !== 'object' || method === null || !intent.setup_future_usage) return null;
  const label = method.card ? `${method.card.brand} …${method.card.last4}` : method.type;
  return { ref: method.id, label };
}
