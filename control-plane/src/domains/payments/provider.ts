/** Payment providers. `manual` payments have none: operators record them. */
export type ProviderName = 'stripe' | 'test';

/** A payment as a provider needs it. */
export interface ProviderPayment {
  id: string;
  organizationId: string;
  /** The tenant at the provider. */
  customerRef: string | null;
  currency: string;
  amountMicros: bigint;
  /** Reference of the saved method to charge; null if the payer uses the provider's page. */
  methodRef: string | null;
  keepMethod: boolean;
  checkoutRef: string | null;
  paymentRef: string | null;
  expiresAt: Date | null;
}

export interface ProviderRefund {
  id: string;
  amountMicros: bigint;
}

export interface ObservedRefund {
  ref: string;
  /** Our id, if we requested it; null if it was made at the provider. */
  refundId: string | null;
  state: 'pending' | 'succeeded' | 'failed';
  amountMicros: bigint;
}

export interface ObservedDispute {
  ref: string;
  state: 'open' | 'won' | 'lost';
  amountMicros: bigint;
  reason: string;
}

/** The provider's view of a payment at one moment. */
export interface ObservedPayment {
  state: 'open' | 'processing' | 'succeeded' | 'failed' | 'expired';
  paymentRef: string | null;
  receivedMicros: bigint | null;
  failure: { code: string; detail: string } | null;
  /** The payment method, if it was to be saved. */
  method: { ref: string; label: string } | null;
  refunds: ObservedRefund[];
  disputes: ObservedDispute[];
}

/** Signals a change of a payment; a poll of the payment shows which. */
export interface ProviderEvent {
  ref: string;
  type: string;
  about: { paymentId?: string; checkoutRef?: string; paymentRef?: string };
}

export interface PaymentProvider {
  readonly name: ProviderName;
  /** Registers the tenant; idempotent per tenant. Null for a provider without customers. */
  createCustomer(organization: { id: string; name: string }): Promise<string | null>;
  /** Prepares the payment without charging, so that it can be repeated if its result was lost. */
  begin(
    payment: ProviderPayment,
  ): Promise<{ checkoutRef?: string; checkoutUrl?: string; paymentRef?: string }>;
  /** Charges the saved method, unless already done. A declined charge is no error: a poll shows it. */
  charge(payment: ProviderPayment): Promise<void>;
  observe(payment: ProviderPayment): Promise<ObservedPayment>;
  /** Gives money back, unless that was done for this refund. */
  refund(payment: ProviderPayment, refund: ProviderRefund): Promise<void>;
  /**
   * Throws `InvalidSignatureError` unless the bytes come from the provider, now. Null for irrelevant events.
   */
  readEvent(body: string, signature: string, now: Date): ProviderEvent | null;
  /** All events since then, oldest first, to find those that did not arrive. */
  eventsSince(since: Date): AsyncIterable<ProviderEvent>;
}

/** The provider refused finally; a retry is useless. */
export class ProviderRefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class InvalidSignatureError extends Error {}
