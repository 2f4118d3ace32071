import { closeAllMonths } from '@gpuaas/control-plane/domains/statements/close-months';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import type { TestApi } from '../../harness/api.ts';
import type { KnownValues } from '../known-resources.ts';

const amount = { currency: 'USD', micros: 5_000_000 };

async function post(api: TestApi, person: string, url: string, payload: object): Promise<{ id: string }> {
  const answer = await api.server.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    payload,
  });
  if (answer.statusCode >= 300) throw new Error(`${url} → ${answer.statusCode} ${answer.body}`);
  return answer.json();
}

/** Payments that are received, open, and made with a saved method; the statement of the month. */
export async function seedPayments(
  api: TestApi,
): Promise<{ values: KnownValues; own: Record<string, KnownValues> }> {
  const organizationId = api.people['admin']!.organizationId!;
  const received = await post(api, 'operator', `/api/v1/admin/tenants/${organizationId}/payments`, {
    amount,
    reference: 'known',
  });
  const start = () =>
    post(api, 'admin', '/api/v1/billing/payments', {
      organization_id: organizationId,
      amount,
      keep_method: true,
    });
  const [open, first, second] = [await start(), await start(), await start()];
  const methods: string[] = [];
  for (const [payment, card] of [
    [first, 'accepted'],
    [second, 'declined_later'],
  ] as const) {
    await post(api, 'admin', `/api/v1/billing/payments/${payment.id}/test-card`, { card });
    const { id } = await api.services.db
      .selectFrom('payment_methods')
      .select('id')
      .where('provider_ref', '=', card)
      .executeTakeFirstOrThrow();
    methods.push(id);
  }
  await api.server.inject({
    method: 'PUT',
    url: '/api/v1/billing/auto-top-up',
    headers: { authorization: `Bearer ${api.people['admin']!.apiKey}` },
    payload: {
      organization_id: organizationId,
      enabled: false,
      payment_method_id: methods[0],
      threshold: amount,
      amount,
      monthly_cap: amount,
    },
  });
  const inTwoMonths = manualClock(new Date(Date.now() + 62 * 86_400_000));
  await closeAllMonths({ ...api.services, clock: inTwoMonths });
  const statement = await api.services.db
    .selectFrom('statements')
    .select('id')
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .executeTakeFirstOrThrow();
  return {
    values: {
      statement_id: [statement.id],
      payment_id: [received.id],
      payment_method_id: [methods[0]!],
      threshold: [amount],
      monthly_cap: [amount],
    },
    own: {
      payWithTestCard: { payment_id: [open.id], card: ['declined'] },
      removePaymentMethod: { payment_method_id: [methods[1]!] },
      refundPayment: { payment_id: [received.id], amount: [{ currency: 'USD', micros: 10_000 }] },
    },
  };
}
