import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRules, postRules, refusalOf, ruleOf } from './request-rules.ts';
import { StripeModel, StripeRefusal, type StripeEvent } from './stripe-model.ts';

/** The version that our SDK is pinned to. A newer one is a decision, after a review of its changes. */
const API_VERSION = '2026-10-28.endive';
export const SECRET_KEY = 'sk_test_of_the_local_server';
export const WEBHOOK_SECRET = 'whsec_of_the_local_server';

export interface StripeServer {
  url: string;
  model: StripeModel;
  /** `POST payment_intents`, as they came. */
  asked: string[];
  /** Faults of the next requests: the response is lost after the work, or nothing is done. */
  faults: ('lose_answer' | 'unavailable' | null)[];
  /** Signs as Stripe does, `seconds` ago. */
  sign(body: string, options?: { secret?: string; secondsAgo?: number }): string;
  stop(): Promise<void>;
}

/**
 * Stripe on this machine: it refuses what Stripe refuses (no key, no form, no idempotency key, another body
 * under a known key, unknown or missing parameters, wrong states) and signs its events.
 */
export async function startStripeServer(): Promise<StripeServer> {
  const model = new StripeModel(API_VERSION);
  const asked: string[] = [];
  const faults: StripeServer['faults'] = [];
  const answers = new Map<string, { hash: string; status: number; body: string }>();
  const server = createServer((request, response) => {
    void answer({ model, asked, faults, answers }, request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model,
    asked,
    faults,
    sign(body, { secret = WEBHOOK_SECRET, secondsAgo = 0 } = {}) {
      const time = Math.floor(Date.now() / 1000) - secondsAgo;
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      return `t=${time},v1=${signature}`;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Parts extends Pick<StripeServer, 'model' | 'asked' | 'faults'> {
  answers: Map<string, { hash: string; status: number; body: string }>;
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const url = new URL(request.url!, 'http://stripe');
  const path = url.pathname.replace(/^\/v1\//, '');
  parts.asked.push(`${request.method} ${path}`);
  const fault = parts.faults.shift();
  if (fault === 'unavailable') {
    response.writeHead(503, { 'content-type': 'application/json', 'stripe-should-retry': 'false' });
    response.end(JSON.stringify({ error: { type: 'api_error', message: 'Try again later.' } }));
    return;
  }
  const { status, body } = decide(parts, request, path, url.searchParams, text);
  if (fault === 'lose_answer') {
    request.socket.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': parts.model.id('req') });
  response.end(body);
}

function decide(
  { model, answers }: Parts,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
  text: string,
): { status: number; body: string } {
  try {
    requireCredentials(request, model.apiVersion);
    if (request.method === 'GET') return { status: 200, body: JSON.stringify(read(model, path, query)) };
    const key = requireForm(request);
    const hash = createHash('sha256').update(`${path} ${text}`).digest('hex');
    const known = answers.get(key);
    if (known && known.hash !== hash) {
      throw new StripeRefusal(
        400,
        'idempotency_key_in_use',
        'Keys for idempotent requests can only be used with the same parameters.',
        { type: 'idempotency_error' },
      );
    }
    if (known) return known;
    const done = keepRefusals(() => write(model, path, new URLSearchParams(text)));
    answers.set(key, { hash, ...done });
    return done;
  } catch (error) {
    return refusal(error);
  }
}

/** Refusals of the card are kept under their key like any other answer; those of the request are not. */
function keepRefusals(work: () => unknown): { status: number; body: string } {
  try {
    return { status: 200, body: JSON.stringify(work()) };
  } catch (error) {
    if (error instanceof StripeRefusal && error.status === 402) return refusal(error);
    throw error;
  }
}

function refusal(error: unknown): { status: number; body: string } {
  if (!(error instanceof StripeRefusal)) throw error;
  const { type, code, message, extra } = error;
  return { status: error.status, body: JSON.stringify({ error: { type, code, message, ...extra } }) };
}

function requireCredentials(request: IncomingMessage, apiVersion: string): void {
  if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) {
    throw new StripeRefusal(401, 'api_key_invalid', 'Invalid API Key provided.');
  }
  if (request.headers['stripe-version'] !== apiVersion) {
    throw new StripeRefusal(400, 'api_version_invalid', 'The version is not the one that was pinned.');
  }
}

function requireForm(request: IncomingMessage): string {
  if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') {
    throw new StripeRefusal(400, 'content_type_invalid', 'The body must be a form.');
  }
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key.length > 255) {
    throw new StripeRefusal(400, 'idempotency_key_missing', 'A request that changes something needs a key.');
  }
  return key;
}

function read(model: StripeModel, path: string, query: URLSearchParams): unknown {
  const found = ruleOf(getRules, path);
  if (!found) throw new StripeRefusal(404, 'url_invalid', `Unrecognized request URL (GET: /v1/${path}).`);
  const wrong = refusalOf(query, found.rule);
  if (wrong) throw new StripeRefusal(400, wrong.code, wrong.message);
  const expand = [...query].filter(([name]) => name.startsWith('expand')).map(([, value]) => value);
  const intentRef = query.get('payment_intent');
  const ofIntent = <T extends { payment_intent: string }>(all: Map<string, T>): T[] =>
    [...all.values()].filter((one) => one.payment_intent === intentRef).toReversed();
  switch (found.name) {
    case 'checkout/sessions/:id': {
      const session = model.sessions.get(found.id!);
      if (!session) throw new StripeRefusal(404, 'resource_missing', `No such session: ${found.id}`);
      const { wanted: _wanted, ...shown } = session;
      const expanded = session.payment_intent && expand.includes('payment_intent');
      return {
        ...shown,
        payment_intent: expanded ? model.intent(session.payment_intent!) : session.payment_intent,
      };
    }
    case 'payment_intents/:id': {
      const intent = model.intent(found.id!);
      if (!expand.includes('payment_method') || !intent.payment_method) return intent;
      const method = {
        id: intent.payment_method,
        object: 'payment_method',
        type: 'card',
        card: { brand: 'visa', last4: '4242' },
      };
      return { ...intent, payment_method: method };
    }
    case 'refunds':
      return list(ofIntent(model.refunds), query, path);
    case 'disputes':
      return list(ofIntent(model.disputes), query, path);
    default: {
      const since = Number(query.get('created[gte]') ?? 0);
      const types = [...query].filter(([name]) => name.startsWith('types')).map(([, value]) => value);
      const wanted = (event: StripeEvent) => event.created >= since && types.includes(event.type);
      return list(model.events.filter(wanted).toReversed(), query, path);
    }
  }
}

function list(all: { id: string }[], query: URLSearchParams, path: string) {
  const after = query.get('starting_after');
  const from = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
  const limit = Number(query.get('limit') ?? 10);
  return {
    object: 'list',
    url: `/v1/${path}`,
    data: all.slice(from, from + limit),
    has_more: all.length > from + limit,
  };
}

function write(model: StripeModel, path: string, form: URLSearchParams): unknown {
  const found = ruleOf(postRules, path);
  if (!found) throw new StripeRefusal(404, 'url_invalid', `Unrecognized request URL (POST: /v1/${path}).`);
  const wrong = refusalOf(form, found.rule);
  if (wrong) throw new StripeRefusal(400, wrong.code, wrong.message);
  const metadata = metadataIn(form, 'metadata');
  switch (found.name) {
    case 'customers': {
      const customer = { id: model.id('cus'), object: 'customer' as const, name: form.get('name') ?? '' };
      model.customers.set(customer.id, customer);
      return customer;
    }
    case 'checkout/sessions':
      return openSession(model, form, metadata);
    case 'payment_intents': {
      const customer = knownCustomer(model, form);
      return model.createIntent({
        amount: amountOf(form, 'amount'),
        currency: form.get('currency')!,
        customer,
        payment_method: form.get('payment_method'),
        metadata,
      });
    }
    case 'payment_intents/:id/confirm':
      return model.confirm(found.id!);
    case 'payment_intents/:id/cancel':
      return model.cancel(found.id!);
    default: {
      const amount = form.has('amount') ? amountOf(form, 'amount') : null;
      return model.refund(form.get('payment_intent')!, amount, metadata);
    }
  }
}

const HALF_AN_HOUR = 1800;
const A_DAY = 86_400;

function openSession(model: StripeModel, form: URLSearchParams, metadata: Record<string, string>) {
  const customer = knownCustomer(model, form);
  const now = Math.floor(Date.now() / 1000);
  const expires_at = Number(form.get('expires_at') ?? now + A_DAY);
  if (expires_at < now + HALF_AN_HOUR || expires_at > now + A_DAY) {
    throw new StripeRefusal(400, 'expires_at_invalid', 'It must be from 30 minutes to 24 hours from now.');
  }
  const id = model.id('cs');
  const price = 'line_items[0][price_data]';
  const session = {
    id,
    object: 'checkout.session' as const,
    url: `https://checkout.stripe.test/${id}`,
    status: 'open' as const,
    payment_status: 'unpaid' as const,
    payment_intent: null,
    customer,
    expires_at,
    metadata,
    wanted: {
      amount: amountOf(form, `${price}[unit_amount]`),
      currency: form.get(`${price}[currency]`)!,
      keep: form.get('payment_intent_data[setup_future_usage]') === 'off_session',
      metadata: metadataIn(form, 'payment_intent_data[metadata]'),
    },
  };
  model.sessions.set(id, session);
  const { wanted: _wanted, ...shown } = session;
  return shown;
}

function knownCustomer(model: StripeModel, form: URLSearchParams): string | null {
  const customer = form.get('customer');
  if (customer !== null && !model.customers.has(customer)) {
    throw new StripeRefusal(400, 'resource_missing', `No such customer: '${customer}'`);
  }
  return customer;
}

function amountOf(form: URLSearchParams, name: string): number {
  const amount = Number(form.get(name));
  if (Number.isInteger(amount) && amount >= 50) return amount;
  throw new StripeRefusal(400, 'amount_too_small', 'The amount must be an integer of at least 50.');
}

function metadataIn(form: URLSearchParams, name: string): Record<string, string> {
  return Object.fromEntries(
    [...form]
      .filter(([key]) => key.startsWith(`${name}[`))
      .map(([key, value]) => [key.slice(name.length + 1, -1), value]),
  );
}
