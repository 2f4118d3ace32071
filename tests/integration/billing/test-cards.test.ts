import { topUpAllBalances } from '@gpuaas/control-plane/domains/payments/auto-top-up/top-up-balances';
import { reconcileDue } from '@gpuaas/control-plane/domains/payments/reconcile-payments';
import { testProvider } from '@gpuaas/control-plane/domains/payments/test-provider/test-provider';
import { verifyPayments } from '@gpuaas/control-plane/domains/payments/verify-payments';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';

let api: TestApi;
let tenant: string;

beforeAll(async () => {
  api = await createTestApi({ withoutCredit: true });
  tenant = api.people['admin']!.organizationId!;
});
afterAll(() => api?.stop());

async function ask(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object, person = 'admin') {
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const usd = (dollars: number) => ({ currency: 'USD', micros: dollars * 1_000_000 });
const pay = (id: string, card: string, person?: string) =>
  ask('POST', `/api/v1/billing/payments/${id}/test-card`, { card }, person);
const balance = async (): Promise<number> =>
  (await ask('GET', `/api/v1/billing/balance?organization_id=${tenant}`)).body.balances[0]?.micros ?? 0;

it('a newcomer tops up with a test card, and sees one declined', async () => {
  const options = await ask('GET', `/api/v1/billing/payment-options?organization_id=${tenant}`);
  expect(options.body).toMatchObject({ provider: 'test', minimum: usd(5) });
  expect(options.body.test_cards.map(({ card }: { card: string }) => card)).toContain('declined');
  const { body: payment } = await ask('POST', '/api/v1/billing/payments', {
    organization_id: tenant,
    amount: usd(50),
    keep_method: true,
  });
  expect(payment.state).toBe('open');
  const declined = await pay(payment.id, 'declined');
  expect(declined.body).toMatchObject({ state: 'open', failure: { code: 'card_declined' } });
  expect(await balance()).toBe(0);
  expect((await pay(payment.id, 'accepted', 'other')).status).toBe(404);
  const paid = await pay(payment.id, 'declined_later');
  expect(paid.body).toMatchObject({ state: 'succeeded', received: usd(50), failure: null });
  expect(await balance()).toBe(50_000_000);
  expect((await pay(payment.id, 'accepted')).body.code).toBe('payment_not_open');
});

it('an automatic top-up with a card that is declined later says so and waits', async () => {
  const methods = await ask('GET', `/api/v1/billing/payment-methods?organization_id=${tenant}`);
  const settings = {
    organization_id: tenant,
    enabled: true,
    payment_method_id: methods.body.items[0].id,
    threshold: usd(100),
    amount: usd(20),
    monthly_cap: usd(60),
  };
  expect((await ask('PUT', '/api/v1/billing/auto-top-up', settings)).status).toBe(200);
  const worker = servicesAsRole(api.services, 'gpuaas_worker');
  const provider = testProvider(worker);
  expect((await topUpAllBalances(worker, provider)).started).toHaveLength(1);
  await reconcileDue(worker, provider);
  const { body } = await ask('GET', `/api/v1/billing/auto-top-up?organization_id=${tenant}`);
  expect(body).toMatchObject({ last_failure: 'The card was declined.', charged_this_month: usd(0) });
  expect(body.waits_until).not.toBeNull();
  expect((await topUpAllBalances(worker, provider)).started).toEqual([]);
  expect(await balance()).toBe(50_000_000);
  expect((await verifyPayments(api.services.db)).faults).toEqual([]);
});
