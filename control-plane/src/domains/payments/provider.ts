/** Who takes money for us. `manual` payments have none: operators record what they received. */
export type ProviderName = 'stripe' | 'test';

/** A payment as a provider needs to know it. */
export interface ProviderPayment {
  id: string;
  organizationId: string;
  /** The tenant at the provider. */
  customerRef: string | null;
  currency: string;
  amountMicros: bigint;
  /** Of the kept method that is charged; null where somebody pays at the provider's page. */
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
  /** Ours, when we asked for it; null when it was made at the provider. */
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

/** What the provider says of a payment at one moment. */
export interface ObservedPayment {
  state: 'open' | 'processing' | 'succeeded' | 'failed' | 'expired';
  paymentRef: string | null;
  receivedMicros: bigint | null;
  failure: { code: string; detail: string } | null;
  /** What was paid with, when it was to be kept. */
  method: { ref: string; label: string } | null;
  refunds: ObservedRefund[];
  disputes: ObservedDispute[];
}

/** Says that something happened to a payment; what, the payment itself says when it is looked at. */
export interface ProviderEvent {
  ref: string;
  type: string;
  about: { paymentId?: string; checkoutRef?: string; paymentRef?: string };
}

export interface PaymentProvider {
  readonly name: ProviderName;
  /** Makes the tenant known; the same answer for the same tenant. Null where a provider has no customers. */
  createCustomer(organization: { id: string; name: string }): Promise<string | null>;
  /** Prepares the payment and takes nothing, so that it may be done again when nobody noted the answer. */
  begin(
    payment: ProviderPayment,
  ): Promise<{ checkoutRef?: string; checkoutUrl?: string; paymentRef?: string }>;
  /** Charges the kept method, unless that was done. A refused charge is no error: `look` tells. */
  charge(payment: ProviderPayment): Promise<void>;
  look(payment: ProviderPayment): Promise<ObservedPayment>;
  /** Gives money back, unless that was done for this refund. */
  refund(payment: ProviderPayment, refund: ProviderRefund): Promise<void>;
  /** Throws `SignatureRefused` unless the bytes come from the provider, now. Null for what is of no interest. */
  readEvent(body: string, signature: string, now: Date): ProviderEvent | null;
  /** Everything it told since then, oldest first, for what did not arrive. */
  eventsSince(since: Date): AsyncIterable<ProviderEvent>;
}

/** The provider will never do this; asking again is of no use. */
export class ProviderRefused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class SignatureRefused extends Error {}
