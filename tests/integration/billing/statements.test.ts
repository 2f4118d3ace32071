import { verifyPayments } from '@gpuaas/control-plane/domains/payments/verify-payments';
import { closeAllMonths } from '@gpuaas/control-plane/domains/statements/close-months';
import { verifyStatements } from '@gpuaas/control-plane/domains/statements/verify-statements';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { recordHour } from '../../harness/recorded-usage.ts';
import { seedActiveAllocation } from '../../contract/known/known-allocations.ts';

let api: TestApi;
let worker: Services;
let tenant: string;

beforeAll(async () => {
  api = await createTestApi({ withoutCredit: true });
  worker = servicesAsRole(api.services, 'gpuaas_worker');
  tenant = api.people['admin']!.organizationId!;
});
afterAll(() => api?.stop());

async function ask(person: string, method: 'GET' | 'POST', url: string, payload?: object) {
  return await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
}

const usd = (micros: number) => ({ currency: 'USD', micros });
const adjust = (kind: string, micros: number, reason: string) =>
  ask('operator', 'POST', `/api/v1/admin/tenants/${tenant}/ledger-adjustments`, {
    kind,
    amount: usd(micros),
    reason,
  });

/** The worker in a month from now, counted from this one. */
function inMonths(months: number): Services {
  const now = new Date();
  const clock = manualClock(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 3)));
  return { ...worker, clock };
}

async function statements() {
  const answer = await ask('admin', 'GET', `/api/v1/billing/statements?organization_id=${tenant}`);
  return answer.json<{ items: { id: string; month: string }[] }>().items;
}

describe('a statement', () => {
  it('is closed once when its month is over, and has every movement of it', async () => {
    await adjust('credit', 50_000_000, 'Welcome credit');
    await ask('operator', 'POST', `/api/v1/admin/tenants/${tenant}/payments`, {
      amount: usd(100_000_000),
      reference: 'INV-1',
    });
    await recordHour(api.services.db, await seedActiveAllocation(api));
    expect(await closeAllMonths(inMonths(0))).toBe(0);
    const both = await Promise.all([closeAllMonths(inMonths(1)), closeAllMonths(inMonths(1))]);
    expect(both.reduce((sum, closed) => sum + closed, 0)).toBe(1);
    expect(await closeAllMonths(inMonths(1))).toBe(0);
    const [summary] = await statements();
    const statement = (await ask('admin', 'GET', `/api/v1/billing/statements/${summary!.id}`)).json();
    expect(statement).toMatchObject({
      opening_balance: usd(0),
      closing_balance: usd(147_010_000),
      totals: { usage: usd(-2_990_000), payments: usd(100_000_000), credits: usd(50_000_000), tax: usd(0) },
      usage: [{ seconds: 3600, amount: usd(-2_990_000), per_hour: usd(2_990_000) }],
      payments: [{ kind: 'payment', reason: 'Payment received (INV-1)' }],
    });
  });

  it('never changes: a correction is in the next one, which opens where it closed', async () => {
    const [first] = await statements();
    const before = (await ask('admin', 'GET', `/api/v1/billing/statements/${first!.id}`)).body;
    await adjust('adjustment', -1_000_000, '=Corrects "what" was wrong');
    expect(await closeAllMonths(inMonths(2))).toBe(1);
    const [second] = await statements();
    const next = (await ask('admin', 'GET', `/api/v1/billing/statements/${second!.id}`)).json();
    expect(next).toMatchObject({
      opening_balance: usd(147_010_000),
      closing_balance: usd(146_010_000),
      corrections: [{ kind: 'adjustment', amount: usd(-1_000_000) }],
    });
    expect((await ask('admin', 'GET', `/api/v1/billing/statements/${first!.id}`)).body).toBe(before);
    const { db } = api.services;
    await expect(sql`update statements set closing_micros = 0`.execute(db)).rejects.toThrow('append-only');
    await expect(
      sql`insert into statement_transactions select t.id, ${first!.id}, t.organization_id, t.currency
        from ledger_transactions t limit 1`.execute(db),
    ).rejects.toThrow('is closed');
  });

  it('can be made again from the ledger, byte for byte', async () => {
    expect(await verifyStatements(api.services.db)).toEqual({ statements: 2, faults: [] });
  });

  it('comes as a table that adds up, without formulas', async () => {
    const [second] = await statements();
    const answer = await ask('admin', 'GET', `/api/v1/billing/statements/${second!.id}/csv`);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    const lines = answer.body.trimEnd().split('\r\n');
    expect(lines[0]).toContain('section,from,to,description');
    expect(answer.body).toContain(`"'=Corrects ""what"" was wrong"`);
    const amounts = lines.slice(1).map((line) => Number(line.split(',').at(-2)));
    const closing = amounts.pop()!;
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(closing, 6);
  });

  it('comes as a PDF, the same bytes each time', async () => {
    const [, first] = await statements();
    const url = `/api/v1/billing/statements/${first!.id}/pdf`;
    const [one, two] = [await ask('admin', 'GET', url), await ask('admin', 'GET', url)];
    expect(one.headers['content-type']).toBe('application/pdf');
    expect(one.rawPayload.subarray(0, 5).toString()).toBe('%PDF-');
    expect(one.rawPayload.equals(two.rawPayload)).toBe(true);
  });

  it('shows the tax of payments and refunds beside the balance', async () => {
    const policy = `/api/v1/admin/policies/billing.tax_basis_points?organization_id=${tenant}`;
    const headers = { authorization: `Bearer ${api.people['operator']!.apiKey}` };
    await api.server.inject({ method: 'PUT', url: policy, headers, payload: { value: 500 } });
    await api.services.policies.refresh();
    const payments = `/api/v1/admin/tenants/${tenant}/payments`;
    const paid = await ask('operator', 'POST', payments, { amount: usd(105_000_000), reference: 'INV-2' });
    expect(paid.json()).toMatchObject({ amount: usd(105_000_000), tax: usd(5_000_000) });
    const refund = await ask('operator', 'POST', `/api/v1/admin/payments/${paid.json().id}/refunds`, {
      amount: usd(21_000_000),
      reason: 'Too much',
    });
    expect(refund.statusCode).toBeLessThan(300);
    expect(await closeAllMonths(inMonths(3))).toBe(1);
    const [third] = await statements();
    const statement = (await ask('admin', 'GET', `/api/v1/billing/statements/${third!.id}`)).json();
    expect(statement).toMatchObject({
      opening_balance: usd(146_010_000),
      closing_balance: usd(226_010_000),
      totals: { payments: usd(80_000_000), tax: usd(4_000_000) },
      payments: [
        { amount: usd(100_000_000), tax: usd(5_000_000) },
        { amount: usd(-20_000_000), tax: usd(-1_000_000) },
      ],
    });
    expect((await verifyPayments(api.services.db)).faults).toEqual([]);
    expect((await verifyStatements(api.services.db)).faults).toEqual([]);
  });

  it('is invisible to other tenants', async () => {
    const [first] = await statements();
    for (const part of ['', '/csv', '/pdf']) {
      const url = `/api/v1/billing/statements/${first!.id}${part}`;
      expect((await ask('other', 'GET', url)).statusCode).toBe(404);
      expect((await ask('member', 'GET', url)).statusCode).toBe(403);
    }
  });
});
