import { newId } from '@gpuaas/control-plane/platform/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';

let api: TestApi;
let tenant: string;
let otherTenant: string;

beforeAll(async () => {
  api = await createTestApi({ withoutCredit: true });
  tenant = api.people['admin']!.organizationId!;
  otherTenant = api.people['other']!.organizationId!;
});
afterAll(() => api?.stop());

async function ask(person: string, method: 'GET' | 'POST', url: string, payload?: object, key?: string) {
  const answer = await api.server.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${api.people[person]!.apiKey}`,
      ...(key ? { 'x-idempotency-key': key } : {}),
    },
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const usd = (micros: number) => ({ currency: 'USD', micros });
const adjust = (payload: object, key?: string, organization = tenant) =>
  ask('operator', 'POST', `/api/v1/admin/tenants/${organization}/ledger-adjustments`, payload, key);
const balance = (person = 'admin') => ask(person, 'GET', `/api/v1/billing/balance?organization_id=${tenant}`);

describe('a balance', () => {
  it('moves by credit and adjustment, with reasons the tenant sees', async () => {
    expect((await balance()).body.balances).toEqual([]);
    const credit = await adjust({ kind: 'credit', amount: usd(50_000_000), reason: 'Welcome credit' });
    expect(credit.status).toBe(201);
    const corrects = credit.body.entries.find((e: { account: string }) => e.account === 'tenant_balance').id;
    const taken = await adjust({
      kind: 'adjustment',
      amount: usd(-20_000_000),
      reason: 'Credited twice what was agreed',
      corrects_entry_id: corrects,
    });
    expect(taken.body).toMatchObject({ amount: usd(-20_000_000), corrects_entry_id: corrects });
    expect((await balance()).body.balances).toEqual([usd(30_000_000)]);
    const first = await ask('admin', 'GET', `/api/v1/billing/ledger?organization_id=${tenant}&limit=1`);
    expect(first.body.items).toEqual([taken.body]);
    const page = encodeURIComponent(first.body.next_page);
    const rest = await ask('admin', 'GET', `/api/v1/billing/ledger?organization_id=${tenant}&page=${page}`);
    expect(rest.body).toEqual({ items: [credit.body], next_page: null });
  });

  it('is moved once by a repeated request', async () => {
    const before = (await balance()).body.balances[0].micros;
    const request = { kind: 'credit', amount: usd(1_000_000), reason: 'Goodwill' };
    const key = newId();
    const answers = await Promise.all([adjust(request, key), adjust(request, key), adjust(request, key)]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await balance()).body.balances[0].micros).toBe(before + 1_000_000);
  });

  it.each([
    [{ kind: 'credit', amount: usd(0) }, 'adjustment_refused', '/amount/micros'],
    [{ kind: 'credit', amount: usd(-1) }, 'adjustment_refused', '/amount/micros'],
    [{ kind: 'credit', amount: { currency: 'XXX', micros: 1 } }, 'currency_unknown', '/amount/currency'],
    [
      { kind: 'credit', amount: usd(1), corrects_entry_id: newId() },
      'adjustment_refused',
      '/corrects_entry_id',
    ],
    [
      { kind: 'adjustment', amount: usd(1), corrects_entry_id: newId() },
      'adjustment_refused',
      '/corrects_entry_id',
    ],
  ])('does not move by %j', async (body, code, pointer) => {
    const before = (await balance()).body.balances;
    const answer = await adjust({ ...body, reason: 'No reason at all' });
    expect(answer).toMatchObject({ status: 422, body: { code, errors: [{ pointer }] } });
    expect((await balance()).body.balances).toEqual(before);
  });

  it('cannot be moved by correcting the entry of another tenant', async () => {
    const theirs = await adjust({ kind: 'credit', amount: usd(5), reason: 'Theirs' }, undefined, otherTenant);
    const attempt = await adjust({
      kind: 'adjustment',
      amount: usd(-5),
      reason: 'Mixed up',
      corrects_entry_id: theirs.body.entries[0].id,
    });
    expect(attempt).toMatchObject({ status: 422, body: { code: 'adjustment_refused' } });
  });
});

describe('money', () => {
  it('of a tenant is not there for a stranger, and not given by tenants', async () => {
    expect((await balance('other')).status).toBe(404);
    const url = `/api/v1/admin/tenants/${tenant}/ledger-adjustments`;
    const gift = { kind: 'credit', amount: usd(1_000_000), reason: 'To myself' };
    expect((await ask('admin', 'POST', url, gift)).status).toBe(403);
    expect((await adjust(gift, undefined, newId())).status).toBe(404);
  });
});
