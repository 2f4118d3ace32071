import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedActiveAllocation } from '../../contract/known/known-allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { recordHour } from '../../harness/recorded-usage.ts';

let api: TestApi;
let tenant: string;
const leases: string[] = [];
const day = 86_400_000;
const from = new Date(Date.now() - day).toISOString();
const to = new Date(Date.now() + day).toISOString();
const usd = (micros: number) => ({ currency: 'USD', micros });

beforeAll(async () => {
  api = await createTestApi();
  tenant = api.people['admin']!.organizationId!;
  for (let count = 0; count < 2; count++) {
    leases.push(await seedActiveAllocation(api));
    await recordHour(api.services.db, leases[count]!);
  }
});
afterAll(() => api?.stop());

async function ask(person: string, url: string) {
  return await api.server.inject({
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
  });
}

const costs = (groupBy: string, person = 'admin', time = { from, to }) =>
  ask(
    person,
    `/api/v1/billing/reports/costs?organization_id=${tenant}&from=${time.from}&to=${time.to}&group_by=${groupBy}`,
  );

describe('costs', () => {
  it('add up to the same total in every grouping', async () => {
    for (const group of ['project', 'team', 'user', 'sku', 'tag', 'region', 'day', 'month']) {
      const { items } = (await costs(group)).json<{ items: { amount: { micros: number } }[] }>();
      const total = items.reduce((sum, { amount }) => sum + amount.micros, 0);
      expect(total, group).toBe(5_980_000);
    }
    const projects = (await costs('project')).json();
    expect(projects.items).toEqual([
      {
        group: api.people['admin']!.projectId,
        label: 'default',
        gpu_seconds: expect.any(Number),
        amount: usd(5_980_000),
      },
    ]);
  });

  it('cover only the requested period and tenant', async () => {
    const past = { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' };
    expect((await costs('project', 'admin', past)).json().items).toEqual([]);
    expect((await costs('project', 'other')).statusCode).toBe(404);
    expect((await costs('project', 'member')).statusCode).toBe(403);
  });

  it('are by tag as leases are tagged now; one with two tags counts in both', async () => {
    const tag = async (id: string, tags: string[], person = 'member') =>
      await api.server.inject({
        method: 'PUT',
        url: `/api/v1/allocations/${id}/tags`,
        headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
        payload: { tags },
      });
    expect((await tag(leases[0]!, ['training', 'team=nlp'])).json().tags).toEqual(['team=nlp', 'training']);
    const by = async () =>
      (await costs('tag')).json<{ items: { group: string; amount: { micros: number } }[] }>().items;
    expect((await by()).map(({ group, amount }) => [group, amount.micros])).toEqual([
      ['', 2_990_000],
      ['team=nlp', 2_990_000],
      ['training', 2_990_000],
    ]);
    const { projectId } = api.people['member']!;
    const list = await ask('member', `/api/v1/allocations?project_id=${projectId}&tag=training`);
    expect(list.json<{ items: { id: string }[] }>().items.map(({ id }) => id)).toEqual([leases[0]]);
    expect((await tag(leases[0]!, ['No Tag'])).statusCode).toBe(400);
    expect(
      (
        await tag(
          leases[0]!,
          Array.from({ length: 11 }, (_, n) => `t${n}`),
        )
      ).statusCode,
    ).toBe(400);
    expect((await tag(leases[0]!, [], 'other')).statusCode).toBe(404);
    expect((await tag(leases[0]!, [])).json().tags).toEqual([]);
  });

  it('come as a table', async () => {
    const answer = await ask(
      'admin',
      `/api/v1/billing/reports/costs/csv?organization_id=${tenant}&from=${from}&to=${to}&group_by=sku`,
    );
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    const [head, line] = answer.body.split('\r\n');
    expect(head).toBe('sku,name,gpu_seconds,amount,currency');
    expect(line).toMatch(/,5\.980000,USD$/);
  });
});

describe('revenue and utilisation', () => {
  it('are the operators’ to see', async () => {
    const url = `/api/v1/admin/reports/revenue?from=${from}&to=${to}&group_by=tenant`;
    const { items } = (await ask('operator', url)).json();
    expect(items).toMatchObject([{ group: tenant, amount: usd(5_980_000) }]);
    const csv = await ask('operator', url.replace('revenue?', 'revenue/csv?'));
    expect(csv.body).toContain('5.980000');
    expect((await ask('admin', url)).statusCode).toBe(403);
    const fleet = await ask('operator', '/api/v1/admin/reports/utilisation');
    expect(fleet.statusCode).toBe(200);
    expect((await ask('admin', '/api/v1/admin/reports/utilisation')).statusCode).toBe(403);
  });
});
