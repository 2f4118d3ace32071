import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { verifyLedger } from '@gpuaas/control-plane/domains/billing/ledger/verify-ledger';
import { verifySnapshots } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { reconcileDue } from '@gpuaas/control-plane/domains/payments/reconcile-payments';
import { stripeProvider } from '@gpuaas/control-plane/domains/payments/stripe/stripe-provider';
import { verifyPayments } from '@gpuaas/control-plane/domains/payments/verify-payments';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiProcess, type ApiProcess } from '../../harness/processes/api-processes.ts';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../../harness/api.ts';
import { SeededRandom } from '../../harness/seeded-random.ts';
import {
  SECRET_KEY,
  startStripeServer,
  WEBHOOK_SECRET,
  type StripeServer,
} from '../../harness/servers/stripe/stripe-server.ts';

type Payment = components['schemas']['Payment'];

const ROUNDS = 10;
const TOGETHER = 4;
const DOLLARS = 10;

let api: TestApi;
let stripe: StripeServer;
let tenant: string;
const random = new SeededRandom(5);

beforeAll(async () => {
  stripe = await startStripeServer();
  api = await createTestApi({ withoutCredit: true, paymentProvider: provider() });
  tenant = api.people['admin']!.organizationId!;
}, 120_000);
afterAll(async () => {
  await api?.stop();
  await stripe?.stop();
});

function provider() {
  const settings = { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiUrl: new URL(stripe.url) };
  return stripeProvider(settings, TEST_PUBLIC_URL);
}

const topUp = (idempotencyKey: string) => ({
  method: 'POST' as const,
  url: '/api/v1/billing/payments',
  headers: { authorization: `Bearer ${api.people['admin']!.apiKey}`, 'x-idempotency-key': idempotencyKey },
  payload: { organization_id: tenant, amount: { currency: 'USD', micros: DOLLARS * 1_000_000 } },
});

const delivery = (event: object) => ({
  method: 'POST' as const,
  url: '/payments/stripe/events',
  headers: {
    'content-type': 'application/json',
    'stripe-signature': stripe.sign(JSON.stringify(event)),
  },
  payload: event,
});

/** Starts payments and receives events of paid ones, until it is killed in the middle. */
async function diesAtWork(process: ApiProcess, keys: string[], events: object[]): Promise<void> {
  const work = [...keys.map(topUp), ...events.map(delivery)].map((request) => process.ask(request));
  await wait(random.between(0, 150));
  await process.kill();
  await Promise.all(work);
}

/** The payer repeats the request with the same key, as all our clients do. */
async function askAgain(key: string): Promise<Payment> {
  const answer = await api.server.inject(topUp(key));
  expect(answer.statusCode, answer.body).toBe(202);
  return answer.json<Payment>();
}

it(
  'a process that is killed in the middle of payments neither loses nor doubles one',
  { timeout: 240_000 },
  async () => {
    const worker = servicesAsRole(api.services, 'gpuaas_worker');
    const clock = manualClock(new Date());
    const begun = new Set<string>();
    let delivered: object[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const keys = Array.from({ length: TOGETHER }, newId);
      const more = { GPUAAS_TEST_STRIPE_URL: stripe.url };
      await diesAtWork(await startApiProcess(api.databaseUrl, api.dataDir, more), keys, delivered);
      for (const key of keys) begun.add((await askAgain(key)).id);
      expect(begun.size).toBe(round * TOGETHER);
      for (const session of stripe.model.sessions.values()) {
        if (session.status === 'open' && random.chance(0.7)) stripe.model.pay(session.id, 'ok');
      }
      delivered = stripe.model.events.splice(0);
      clock.advance(3_600_000);
      // Events that the killed process had not received are sent again; payments that it had started are
      // polled.
      if (random.chance(0.5)) for (const event of delivered) await api.server.inject(delivery(event));
      await reconcileDue({ ...worker, clock }, provider());
    }
    for (let look = 0; look < 3; look++) {
      clock.advance(3_600_000);
      await reconcileDue({ ...worker, clock }, provider());
    }
    const { db } = api.services;
    const rows = await db.selectFrom('payments').select(['id', 'state']).execute();
    expect(new Set(rows.map(({ id }) => id))).toEqual(begun);
    expect(stripe.model.sessions.size).toBe(begun.size);
    const paid = [...stripe.model.sessions.values()].filter((session) => session.payment_status === 'paid');
    expect(rows.filter(({ state }) => state === 'succeeded')).toHaveLength(paid.length);
    const balance = await db
      .selectFrom('balance_snapshots')
      .select('micros')
      .where('organization_id', '=', tenant)
      .executeTakeFirst();
    expect(balance?.micros).toBe(BigInt(paid.length * DOLLARS) * 1_000_000n);
    expect((await verifyPayments(db)).faults).toEqual([]);
    expect((await verifyLedger(db)).faults).toEqual([]);
    expect(await verifySnapshots(db)).toEqual([]);
  },
);
