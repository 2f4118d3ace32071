/** Objects of the local Stripe, with the fields that Stripe's answers have and we read. */
export interface Intent {
  id: string;
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  currency: string;
  customer: string | null;
  status:
    | 'requires_payment_method'
    | 'requires_confirmation'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
  payment_method: string | null;
  setup_future_usage: 'off_session' | null;
  last_payment_error: { code: string; decline_code?: string; message: string } | null;
  metadata: Record<string, string>;
}

export interface Session {
  id: string;
  object: 'checkout.session';
  url: string | null;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'paid' | 'unpaid';
  /** Null until the first payment attempt, as at Stripe. */
  payment_intent: string | null;
  customer: string | null;
  expires_at: number;
  metadata: Record<string, string>;
  /** Not visible in Stripe's API: the intent to be created. */
  wanted: { amount: number; currency: string; keep: boolean; metadata: Record<string, string> };
}

export interface Refund {
  id: string;
  object: 'refund';
  amount: number;
  currency: string;
  payment_intent: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  metadata: Record<string, string>;
}

export interface Dispute {
  id: string;
  object: 'dispute';
  amount: number;
  currency: string;
  payment_intent: string;
  reason: string;
  status: 'warning_needs_response' | 'needs_response' | 'under_review' | 'won' | 'lost';
  metadata: Record<string, string>;
}

export interface StripeEvent {
  id: string;
  object: 'event';
  api_version: string;
  created: number;
  type: string;
  data: { object: unknown };
}

export class StripeRefusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly extra: Record<string, unknown>;

  constructor(
    status: number,
    code: string,
    message: string,
    { type = 'invalid_request_error', ...extra }: { type?: string } & Record<string, unknown> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.type = type;
    this.extra = extra;
  }
}

/** Cards that a test pays with. */
export type Card = 'ok' | 'declined' | 'bank_debit';

/** Stripe's state: objects change by its rules only, and each change is an event. */
export class StripeModel {
  readonly customers = new Map<string, { id: string; object: 'customer'; name: string }>();
  readonly intents = new Map<string, Intent>();
  readonly sessions = new Map<string, Session>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly events: StripeEvent[] = [];
  /** Kept methods whose charge is declined, or asks for the holder. */
  readonly decliningMethods = new Map<string, 'card_declined' | 'authentication_required'>();
  readonly apiVersion: string;
  #count = 0;

  constructor(apiVersion: string) {
    this.apiVersion = apiVersion;
  }

  id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(6, '0')}`;
  }

  emit(type: string, object: unknown): void {
    this.events.push({
      id: this.id('evt'),
      object: 'event',
      api_version: this.apiVersion,
      created: Math.floor(Date.now() / 1000),
      type,
      data: { object: structuredClone(object) },
    });
  }

  createIntent(
    fields: Pick<Intent, 'amount' | 'currency' | 'customer' | 'payment_method' | 'metadata'>,
  ): Intent {
    if (fields.payment_method && !fields.customer)
      throw new StripeRefusal(400, 'parameter_missing', 'The payment method belongs to a customer.');
    const intent: Intent = {
      id: this.id('pi'),
      object: 'payment_intent',
      amount_received: 0,
      status: fields.payment_method ? 'requires_confirmation' : 'requires_payment_method',
      setup_future_usage: null,
      last_payment_error: null,
      ...fields,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  confirm(id: string): Intent {
    const intent = this.intent(id);
    if (intent.status !== 'requires_confirmation') {
      throw new StripeRefusal(
        400,
        'payment_intent_unexpected_state',
        `The intent has a status of ${intent.status}.`,
      );
    }
    const declines = this.decliningMethods.get(intent.payment_method!);
    if (declines) {
      intent.status = 'requires_payment_method';
      intent.last_payment_error = { code: declines, message: 'Your card was declined.' };
      this.emit('payment_intent.payment_failed', intent);
      throw new StripeRefusal(402, declines, 'Your card was declined.', {
        type: 'card_error',
        decline_code: 'generic_decline',
      });
    }
    return this.#succeed(intent);
  }

  cancel(id: string): Intent {
    const intent = this.intent(id);
    if (intent.status === 'succeeded' || intent.status === 'canceled') {
      throw new StripeRefusal(400, 'payment_intent_unexpected_state', 'It cannot be canceled.');
    }
    intent.status = 'canceled';
    this.emit('payment_intent.canceled', intent);
    return intent;
  }

  /** Pays at the checkout page. */
  pay(sessionId: string, card: Card = 'ok'): void {
    const session = this.sessions.get(sessionId)!;
    if (session.status !== 'open') throw new Error('the page is closed');
    const { wanted } = session;
    const intent = session.payment_intent
      ? this.intent(session.payment_intent)
      : this.createIntent({ ...wanted, customer: session.customer, payment_method: null });
    session.payment_intent = intent.id;
    intent.setup_future_usage = wanted.keep ? 'off_session' : null;
    if (card === 'declined') {
      intent.last_payment_error = { code: 'card_declined', message: 'Your card was declined.' };
      this.emit('payment_intent.payment_failed', intent);
      return;
    }
    intent.payment_method = this.id('pm');
    session.status = 'complete';
    session.url = null;
    if (card === 'bank_debit') {
      intent.status = 'processing';
      this.emit('payment_intent.processing', intent);
      this.emit('checkout.session.completed', session);
      return;
    }
    session.payment_status = 'paid';
    this.#succeed(intent);
    this.emit('checkout.session.completed', session);
  }

  /** The bank answers a debit. */
  endDebit(sessionId: string, paid: boolean): void {
    const session = this.sessions.get(sessionId)!;
    const intent = this.intent(session.payment_intent!);
    if (paid) {
      session.payment_status = 'paid';
      this.#succeed(intent);
      this.emit('checkout.session.async_payment_succeeded', session);
    } else {
      intent.status = 'requires_payment_method';
      intent.last_payment_error = { code: 'debit_refused', message: 'The bank refused the debit.' };
      this.emit('checkout.session.async_payment_failed', session);
    }
  }

  expire(sessionId: string): void {
    const session = this.sessions.get(sessionId)!;
    session.status = 'expired';
    session.url = null;
    this.emit('checkout.session.expired', session);
  }

  refund(intentId: string, amount: number | null, metadata: Record<string, string>): Refund {
    const intent = this.intent(intentId);
    if (intent.status !== 'succeeded')
      throw new StripeRefusal(400, 'charge_not_refundable', 'The intent has no successful charge.');
    const done = [...this.refunds.values()]
      .filter((r) => r.payment_intent === intentId && r.status !== 'failed')
      .reduce((sum, r) => sum + r.amount, 0);
    const asked = amount ?? intent.amount - done;
    if (asked > intent.amount - done)
      throw new StripeRefusal(400, 'amount_too_large', 'The refund is greater than what is left.');
    const refund: Refund = {
      id: this.id('re'),
      object: 'refund',
      amount: asked,
      currency: intent.currency,
      payment_intent: intentId,
      status: 'pending',
      metadata,
    };
    this.refunds.set(refund.id, refund);
    this.emit('refund.created', refund);
    return refund;
  }

  endRefund(id: string, status: 'succeeded' | 'failed'): void {
    const refund = this.refunds.get(id)!;
    refund.status = status;
    this.emit(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
  }

  dispute(intentId: string, status: Dispute['status'] = 'needs_response'): Dispute {
    const intent = this.intent(intentId);
    const dispute: Dispute = {
      id: this.id('dp'),
      object: 'dispute',
      amount: intent.amount,
      currency: intent.currency,
      payment_intent: intentId,
      reason: 'fraudulent',
      status,
      metadata: {},
    };
    this.disputes.set(dispute.id, dispute);
    this.emit('charge.dispute.created', dispute);
    return dispute;
  }

  endDispute(id: string, status: Dispute['status']): void {
    const dispute = this.disputes.get(id)!;
    dispute.status = status;
    this.emit('charge.dispute.closed', dispute);
  }

  intent(id: string): Intent {
    const intent = this.intents.get(id);
    if (!intent) throw new StripeRefusal(404, 'resource_missing', `No such payment_intent: '${id}'`);
    return intent;
  }

  #succeed(intent: Intent): Intent {
    intent.status = 'succeeded';
    intent.amount_received = intent.amount;
    intent.last_payment_error = null;
    this.emit('payment_intent.succeeded', intent);
    return intent;
  }
}
