import type { Stripe } from 'stripe';
import type { ProviderEvent } from '../provider.ts';

/** Events that this installation needs; configure the same list at the webhook endpoint in Stripe. */
export const STRIPE_EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.expired',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.processing',
  'payment_intent.canceled',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const;

interface AnyObject {
  id: string;
  object: string;
  payment_intent?: string | { id: string } | null;
  metadata?: Record<string, string> | null;
}

/** The payment of an event; null for irrelevant events. */
export function readStripeEvent(event: Stripe.Event): ProviderEvent | null {
  if (!STRIPE_EVENT_TYPES.some((type) => type === event.type)) return null;
  const about = event.data.object as AnyObject;
  const paymentId = about.metadata?.['payment_id'];
  const intent = about.object === 'payment_intent' ? about.id : idOf(about.payment_intent);
  return {
    ref: event.id,
    type: event.type,
    about: {
      ...(paymentId ? { paymentId } : {}),
      ...(about.object === 'checkout.session' ? { checkoutRef: about.id } : {}),
      ...(intent ? { paymentRef: intent } : {}),
    },
  };
}

function idOf(reference: AnyObject['payment_intent']): string | null {
  return typeof reference === 'object' ? (reference?.id ?? null) : (reference ?? null);
}
