import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { advancePayment } from '@gpuaas/control-plane/domains/payments/advance-payment';
import { topUpAllBalances } from '@gpuaas/control-plane/domains/payments/auto-top-up/top-up-balances';
import type { PaymentProvider } from '@gpuaas/control-plane/domains/payments/provider';
import { fetchMissedOnce, reconcileDue } from '@gpuaas/control-plane/domains/payments/reconcile-payments';
import { stripeProvider } from '@gpuaas/control-plane/domains/payments/stripe/stripe-provider';
import { verifyPayments } from '@gpuaas/control-plane/domains/payments/verify-payments';
import { verifyLedger } from '@gpuaas/control-plane/domains/billing/ledger/verify-ledger';
import { verifySnapshots } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { findStuckPayments } from '@gpuaas/control-plane/domains/payments/watch-payments';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../../harness/api.ts';
import {
  SECRET_KEY,
  startStripeServer,
  WEBHOOK_SECRET,
  type StripeServer,
} from '../../harness/servers/stripe/stripe-server.ts';

type Payment = components['schemas']['Payment'];

let api: TestApi;
let stripe: StripeServer;
let provider: PaymentProvider;
let worker: Services;
let tenant: string;
const lines: string[] = [];

beforeAll(async () => {
  stripe = await startStripeServer();
  const settings = { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiUrl: new URL(stripe.url) };
  provider = stripeProvider(settings, TEST_PUBLIC_URL);
  const log = createLogger('payments', { write: (line: string) => void lines.push(line) });
  log.level = 'trace';
  api = await createTestApi({ withoutCredit: true, paymentProvider: provider, log });
  worker = servicesAsRole(api.services, 'gpuaas_worker');
  tenant = api.people['admin']!.organizationId!;
});
afterAll(async () => {
  await api?.stop();
  await stripe?.stop();
});

async function ask(person: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) {
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.statusCode === 204 ? null : answer.json() };
}

const usd = (dollars: number) => ({ currency: 'USD', micros: dollars * 1_000_000 });

async function start(dollars: number, more: object = {}): Promise<Payment> {
  const { status, body } = await ask('admin', 'POST', '/api/v1/billing/payments', {
    organization_id: tenant,
    amount: usd(dollars),
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(202);
  return body as Payment;
}

async function show(id: string): Promise<Payment> {
  return (await ask('admin', 'GET', `/api/v1/billing/payments/${id}`)).body as Payment;
}

async function balance(): Promise<number> {
  const { body } = await ask('admin', 'GET', `/api/v1/billing/balance?organization_id=${tenant}`);
  return (body.balances[0]?.micros ?? 0) / 1_000_000;
}

const sessionOf = (payment: Payment): string => payment.checkout_url!.split('/').at(-1)!;

/** Delivers as Stripe would; the answer's status. */
async function deliver(event: unknown, signing: Parameters<StripeServer['sign']>[1] = {}): Promise<number> {
  const body = JSON.stringify(event);
  const answer = await api.server.inject({
    method: 'POST',
    url: '/payments/stripe/events',
    headers: { 'content-type': 'application/json', 'stripe-signature': stripe.sign(body, signing) },
    payload: body,
  });
  return answer.statusCode;
}

function news() {
  return stripe.model.events.splice(0);
}

describe('a top-up', () => {
  it('is paid at Stripe’s page, and credited once for repeated and late events', async () => {
    const payment = await start(25);
    expect(payment).toMatchObject({ state: 'open', received: null, provider: 'stripe', purpose: 'top_up' });
    const before = await balance();
    stripe.model.pay(sessionOf(payment), 'declined');
    stripe.model.pay(sessionOf(payment), 'ok');
    expect(await balance()).toBe(before);
    // The last one first, all of them twice, and at the same time.
    const received = news().toReversed();
    const answers = await Promise.all([...received, ...received].map((event) => deliver(event)));
    expect(new Set(answers)).toEqual(new Set([204]));
    expect(await balance()).toBe(before + 25);
    expect(await show(payment.id)).toMatchObject({ state: 'succeeded', received: usd(25), failure: null });
    const { rows } = await eventsOf(payment.id);
    expect(rows.map((event) => event.event_type)).toEqual(['payments.balance_credited']);
  });

  it('shows a declined card and stays open for another one', async () => {
    const payment = await start(10);
    stripe.model.pay(sessionOf(payment), 'declined');
    for (const event of news()) await deliver(event);
    expect(await show(payment.id)).toMatchObject({ state: 'open', failure: { code: 'card_declined' } });
  });

  it('by bank debit is credited when the bank has paid, not before', async () => {
    const before = await balance();
    const [paid, refused] = [await start(30), await start(40)];
    const sessions = [sessionOf(paid), sessionOf(refused)] as const;
    for (const session of sessions) stripe.model.pay(session, 'bank_debit');
    for (const event of news()) await deliver(event);
    expect((await show(paid.id)).state).toBe('processing');
    stripe.model.endDebit(sessions[0], true);
    stripe.model.endDebit(sessions[1], false);
    for (const event of news()) await deliver(event);
    expect((await show(paid.id)).state).toBe('succeeded');
    expect(await show(refused.id)).toMatchObject({ state: 'failed', failure: { code: 'debit_refused' } });
    expect(await balance()).toBe(before + 30);
  });

  it('expires if it is not paid', async () => {
    const payment = await start(10);
    stripe.model.expire(sessionOf(payment));
    for (const event of news()) await deliver(event);
    expect(await show(payment.id)).toMatchObject({ state: 'expired', checkout_url: null });
  });

  it('makes one customer of a tenant', () => {
    expect(stripe.model.customers.size).toBe(1);
  });

  it('is refused in fractions of a cent, below and above what is allowed, and without the right', async () => {
    const asked = (micros: number, person = 'admin', currency = 'USD') =>
      ask(person, 'POST', '/api/v1/billing/payments', {
        organization_id: tenant,
        amount: { currency, micros },
      });
    for (const [micros, currency] of [
      [10_000_001, 'USD'],
      [1_000_000, 'USD'],
      [1_000_000_000_000, 'USD'],
      [10_000_000, 'EUR'],
    ] as const) {
      expect((await asked(micros, 'admin', currency)).body.code).toBe('payment_amount_refused');
    }
    expect((await asked(10_000_000, 'member')).status).toBe(403);
    expect((await asked(10_000_000, 'other')).status).toBe(404);
  });
});

describe('what claims to come from Stripe', () => {
  it('is refused without its signature, with a wrong, changed or old one, and changes nothing', async () => {
    const payment = await start(15);
    stripe.model.pay(sessionOf(payment));
    const [event] = news();
    const unsigned = await api.server.inject({
      method: 'POST',
      url: '/payments/stripe/events',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(event),
    });
    expect(unsigned.statusCode).toBe(400);
    expect(unsigned.json().code).toBe('provider_signature_invalid');
    expect(await deliver(event, { secret: 'whsec_somebody_else' })).toBe(400);
    expect(await deliver(event, { secondsAgo: 3600 })).toBe(400);
    const changed = await api.server.inject({
      method: 'POST',
      url: '/payments/stripe/events',
      headers: {
        'content-type': 'application/json',
        'stripe-signature': stripe.sign(JSON.stringify(event)),
      },
      payload: JSON.stringify(event).replace('payment_intent.succeeded', 'payment_intent.succeedeD'),
    });
    expect(changed.statusCode).toBe(400);
    expect((await show(payment.id)).state).toBe('open');
    expect(await deliver(event)).toBe(204);
    expect((await show(payment.id)).state).toBe('succeeded');
  });

  it('is believed about nothing: a signed event that invents a payment credits nothing', async () => {
    const before = await balance();
    const payment = await start(15);
    const invented = {
      id: 'evt_invented',
      object: 'event',
      type: 'payment_intent.succeeded',
      data: { object: { id: 'pi_invented', object: 'payment_intent', metadata: { payment_id: payment.id } } },
    };
    expect(await deliver(invented)).toBe(204);
    expect((await show(payment.id)).state).toBe('open');
    expect(await balance()).toBe(before);
  });
});

describe('what is lost on the way', () => {
  it('a response of Stripe: the payment is still started once', async () => {
    const sessions = stripe.model.sessions.size;
    // The SDK retries once; both responses are lost.
    stripe.faults.push('lose_answer', 'lose_answer');
    const payment = await start(20);
    expect(payment).toMatchObject({ state: 'created', checkout_url: null });
    await reconcileDue(later(60), provider);
    const begun = await show(payment.id);
    expect(begun.state).toBe('open');
    expect(stripe.model.sessions.size).toBe(sessions + 1);
  });

  it('an event: the reconciler polls, and fetches missing events', async () => {
    const before = await balance();
    const [first, second] = [await start(11), await start(12)];
    stripe.model.pay(sessionOf(first));
    await reconcileDue(later(600), provider);
    expect((await show(first.id)).state).toBe('succeeded');
    news();
    stripe.model.pay(sessionOf(second));
    expect(await fetchMissedOnce(worker, provider)).toBe(2);
    expect(await fetchMissedOnce(worker, provider)).toBe(0);
    expect((await show(second.id)).state).toBe('succeeded');
    expect(await balance()).toBe(before + 23);
    news();
  });

  it('Stripe itself: an event is kept and acted upon later', async () => {
    const before = await balance();
    const payment = await start(13);
    stripe.model.pay(sessionOf(payment));
    const [event] = news();
    stripe.faults.push('unavailable', 'unavailable');
    expect(await deliver(event)).toBe(204);
    expect((await show(payment.id)).state).toBe('open');
    await reconcileDue(later(60), provider);
    expect((await show(payment.id)).state).toBe('succeeded');
    expect(await balance()).toBe(before + 13);
  });

  it('and stays lost: an incident is opened', async () => {
    stripe.faults.push('unavailable', 'unavailable');
    const payment = await start(14);
    expect(await findStuckPayments(worker, worker.db)).not.toContainEqual(
      expect.objectContaining({ targetId: payment.id }),
    );
    expect(await findStuckPayments(later(3600), worker.db)).toContainEqual(
      expect.objectContaining({ targetType: 'payment', targetId: payment.id }),
    );
    await reconcileDue(later(120), provider);
    expect((await show(payment.id)).state).toBe('open');
  });
});

describe('a kept payment method', () => {
  it('is charged for a top-up, with one charge when the answer is lost', async () => {
    const kept = await start(21, { keep_method: true });
    stripe.model.pay(sessionOf(kept));
    for (const event of news()) await deliver(event);
    const { body } = await ask('admin', 'GET', `/api/v1/billing/payment-methods?organization_id=${tenant}`);
    const method = body.items[0];
    expect(method).toMatchObject({ provider: 'stripe', label: 'visa …4242' });
    const before = await balance();
    const charged = await start(22, { payment_method_id: method.id });
    expect(charged).toMatchObject({ state: 'succeeded', received: usd(22) });
    expect(await balance()).toBe(before + 22);
    // Every request on the path is lost once: create, poll, confirm, poll.
    stripe.faults.push('lose_answer', 'lose_answer');
    const slow = await start(23, { payment_method_id: method.id });
    for (const fault of [0, 1, 2, 3, 4]) {
      stripe.faults.push(...Array.from({ length: fault }, () => null), 'lose_answer', 'lose_answer');
      await advancePayment(worker, provider, slow.id).catch(() => undefined);
      stripe.faults.splice(0);
    }
    await advancePayment(worker, provider, slow.id);
    expect((await show(slow.id)).state).toBe('succeeded');
    expect(await balance()).toBe(before + 45);
    for (const event of news()) await deliver(event);
    expect(await balance()).toBe(before + 45);
  });

  it('tops the balance up automatically: once at a time, within the month’s cap, and with a pause after a failure', async () => {
    const { body } = await ask('admin', 'GET', `/api/v1/billing/payment-methods?organization_id=${tenant}`);
    const method = body.items[0];
    const settings = {
      organization_id: tenant,
      enabled: true,
      payment_method_id: method.id,
      threshold: usd(10_000),
      amount: usd(100),
      monthly_cap: usd(250),
    };
    expect((await ask('admin', 'PUT', '/api/v1/billing/auto-top-up', settings)).status).toBe(200);
    const before = await balance();
    const both = await Promise.all([topUpAllBalances(worker, provider), topUpAllBalances(worker, provider)]);
    expect(both.flatMap(({ started }) => started)).toHaveLength(1);
    await reconcileDue(later(1), provider);
    expect(await balance()).toBe(before + 100);
    const ref = await api.services.db
      .selectFrom('payment_methods')
      .select('provider_ref')
      .where('id', '=', method.id)
      .executeTakeFirstOrThrow();
    stripe.model.decliningMethods.set(ref.provider_ref, 'card_declined');
    expect((await topUpAllBalances(worker, provider)).started).toHaveLength(1);
    await reconcileDue(later(1), provider);
    const show = () => ask('admin', 'GET', `/api/v1/billing/auto-top-up?organization_id=${tenant}`);
    expect((await show()).body).toMatchObject({
      charged_this_month: usd(100),
      last_failure: 'Your card was declined.',
    });
    expect((await topUpAllBalances(worker, provider)).started).toEqual([]);
    stripe.model.decliningMethods.clear();
    expect((await topUpAllBalances(later(86_400), provider)).started).toHaveLength(1);
    await reconcileDue(later(86_401), provider);
    expect(await balance()).toBe(before + 200);
    // A third hundred would be more than the cap.
    expect((await topUpAllBalances(later(172_800), provider)).started).toEqual([]);
    news();
  });

  it('is charged no more once it is removed', async () => {
    const list = () => ask('admin', 'GET', `/api/v1/billing/payment-methods?organization_id=${tenant}`);
    const [method] = (await list()).body.items;
    const removed = await ask('admin', 'DELETE', `/api/v1/billing/payment-methods/${method.id}`);
    expect(removed.status).toBe(204);
    expect((await list()).body.items).toEqual([]);
    expect((await topUpAllBalances(later(9_000_000), provider)).started).toEqual([]);
  });
});

describe('a refund', () => {
  const refund = (payment: Payment, dollars: number) =>
    ask('operator', 'POST', `/api/v1/admin/payments/${payment.id}/refunds`, {
      amount: usd(dollars),
      reason: 'Paid twice by mistake',
    });

  async function paid(dollars: number): Promise<Payment> {
    const payment = await start(dollars);
    stripe.model.pay(sessionOf(payment));
    for (const event of news()) await deliver(event);
    return await show(payment.id);
  }

  it('leaves the balance immediately and returns when the bank refuses it', async () => {
    const payment = await paid(50);
    const before = await balance();
    const asked = await refund(payment, 20);
    expect(asked.body.refunds).toMatchObject([{ state: 'pending', amount: usd(20) }]);
    expect(await balance()).toBe(before - 20);
    const made = [...stripe.model.refunds.values()].at(-1)!;
    stripe.model.endRefund(made.id, 'succeeded');
    for (const event of news()) await deliver(event);
    expect((await show(payment.id)).refunds[0]!.state).toBe('succeeded');
    stripe.model.endRefund(made.id, 'failed');
    for (const event of [...news(), ...news()]) await deliver(event);
    expect((await show(payment.id)).refunds[0]!.state).toBe('failed');
    expect(await balance()).toBe(before);
  });

  it('is made once when Stripe’s answer is lost', async () => {
    const payment = await paid(50);
    const made = stripe.model.refunds.size;
    const before = await balance();
    stripe.faults.push(null, 'lose_answer', 'lose_answer');
    expect((await refund(payment, 50)).body.refunds[0].state).toBe('requested');
    await reconcileDue(later(60), provider);
    expect(stripe.model.refunds.size).toBe(made + 1);
    expect((await show(payment.id)).refunds[0]!.state).toBe('pending');
    expect(await balance()).toBe(before - 50);
  });

  it('is never more than is left of the payment, and needs the right', async () => {
    const payment = await paid(20);
    expect((await refund(payment, 21)).body).toMatchObject({ code: 'refund_refused', refundable: usd(20) });
    const denied = await ask('admin', 'POST', `/api/v1/admin/payments/${payment.id}/refunds`, {
      amount: usd(1),
      reason: 'mine',
    });
    expect(denied.status).toBe(403);
  });

  it('that was made at Stripe is known here, once', async () => {
    const payment = await paid(40);
    const before = await balance();
    stripe.model.refund(payment.reference!, 1000, {});
    const received = news();
    for (const event of [...received, ...received]) await deliver(event);
    expect(await balance()).toBe(before - 10);
    expect((await show(payment.id)).refunds).toMatchObject([{ state: 'pending', amount: usd(10) }]);
  });
});

describe('a dispute', () => {
  it('withdraws the amount when opened and returns it when won, in any order of events', async () => {
    const payment = await start(60);
    stripe.model.pay(sessionOf(payment));
    for (const event of news()) await deliver(event);
    const { reference } = await show(payment.id);
    const before = await balance();
    const dispute = stripe.model.dispute(reference!, 'warning_needs_response');
    for (const event of news()) await deliver(event);
    expect(await balance()).toBe(before);
    dispute.status = 'needs_response';
    stripe.model.emit('charge.dispute.funds_withdrawn', dispute);
    for (const event of news()) await deliver(event);
    expect(await balance()).toBe(before - 60);
    expect((await show(payment.id)).disputes).toMatchObject([{ state: 'open', amount: usd(60) }]);
    const open = await ask('operator', 'GET', '/api/v1/admin/incidents?type=payment_disputed');
    expect(open.body.items).toHaveLength(1);
    stripe.model.endDispute(dispute.id, 'won');
    const received = news();
    for (const event of [...received, ...received]) await deliver(event);
    expect(await balance()).toBe(before);
    // Opened and lost before we received an event, and reported in reverse.
    const lost = stripe.model.dispute(reference!);
    stripe.model.endDispute(lost.id, 'lost');
    for (const event of news().toReversed()) await deliver(event);
    expect(await balance()).toBe(before - 60);
    const states = (await show(payment.id)).disputes.map(({ state }) => state);
    expect(states).toEqual(['won', 'lost']);
  });
});

describe('a payment that an operator received', () => {
  it('is credited immediately, once per reference, and refunded manually', async () => {
    const before = await balance();
    const record = () =>
      ask('operator', 'POST', `/api/v1/admin/tenants/${tenant}/payments`, {
        amount: { currency: 'USD', micros: 1_234_560_000 },
        reference: 'INV-2026-0042',
        note: 'Wire transfer',
      });
    const recorded = await record();
    expect(recorded.body).toMatchObject({
      state: 'succeeded',
      provider: 'manual',
      reference: 'INV-2026-0042',
    });
    expect(await balance()).toBeCloseTo(before + 1234.56, 6);
    expect((await record()).body).toMatchObject({
      code: 'payment_reference_taken',
      payment_id: recorded.body.id,
    });
    const back = await ask('operator', 'POST', `/api/v1/admin/payments/${recorded.body.id}/refunds`, {
      amount: { currency: 'USD', micros: 1_234_560_000 },
      reason: 'Sent to the wrong account',
    });
    expect(back.body.refunds).toMatchObject([{ state: 'succeeded' }]);
    expect(await balance()).toBeCloseTo(before, 6);
    const all = await ask('operator', 'GET', `/api/v1/admin/payments?organization_id=${tenant}&limit=1`);
    expect(all.body.items[0].id).toBe(recorded.body.id);
  });
});

it('the books hold after all of it', async () => {
  const { db } = api.services;
  expect((await verifyLedger(db)).faults).toEqual([]);
  expect(await verifySnapshots(db)).toEqual([]);
  const { payments, faults } = await verifyPayments(db);
  expect(faults).toEqual([]);
  expect(payments).toBeGreaterThan(20n);
});

function later(seconds: number): Services {
  const clock = manualClock(new Date(Date.now() + seconds * 1000));
  return { ...worker, clock };
}

async function eventsOf(subjectId: string) {
  return {
    rows: await api.services.db
      .selectFrom('outbox_events')
      .select('event_type')
      .where('subject_id', '=', subjectId)
      .orderBy('position')
      .execute(),
  };
}

it('logs contain no secret of a payment: no keys and no checkout URLs', () => {
  const pages = [...stripe.model.sessions.values()].flatMap(({ url }) => url ?? []);
  const secrets = [SECRET_KEY, WEBHOOK_SECRET, ...pages];
  expect(lines.length * pages.length).toBeGreaterThan(0);
  expect(secrets.filter((secret) => lines.some((line) => line.includes(secret)))).toEqual([]);
});
