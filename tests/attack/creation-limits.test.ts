import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { policies as registry, type PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CANNOT_SUCCEED, seedKnownResources, type KnownValues } from '../contract/known-resources.ts';
import { Contract, type Operation } from '../contract/operations.ts';
import { plainRequests } from '../contract/requests.ts';
import { createTestApi, NO_LIMITS, type TestApi } from '../harness/api.ts';
import { signUp } from '../harness/tenancy.ts';

const HOURLY = 'http.creations_per_hour';
const contract = new Contract(document);
const limited = contract.operations.filter(({ limit }) => limit !== null);
const hourly = limited
  .filter(({ limit }) => limit === HOURLY)
  .map((operation) => ({ id: operation.id, operation }));
/** Limits on the number of resources. A resource that this test cannot create has a separate test for its limit. */
const counted = limited
  .filter(({ id, limit }) => limit !== HOURLY && !(id in CANNOT_SUCCEED))
  .map((operation) => ({ id: operation.id, limit: operation.limit as PolicyName, operation }));

let api: TestApi;
let valuesFor: (operation: string) => KnownValues;
beforeAll(async () => {
  const rateLimits = { ...NO_LIMITS };
  api = await createTestApi({ rateLimits });
  ({ valuesFor } = await seedKnownResources(api));
  rateLimits.creations = { burst: 2, perSecond: 1e-6 };
});
afterAll(() => api?.stop());

describe.each(counted)('$id', ({ operation, limit }) => {
  it(`makes no more than ${limit} allows`, async () => {
    await setPolicy(limit, 1);
    try {
      const codes = [];
      for (let seed = 0; seed < 5; seed += 1) {
        for (const person of ['admin', 'operator', 'member']) {
          const answer = await send(operation, seed, api.people[person]!.apiKey);
          const { code, limit: named } = answer.json<{ code?: string; limit?: string }>();
          codes.push(`${answer.statusCode} ${code ?? 'made'} ${named ?? ''}`.trim());
        }
      }
      expect(
        codes.filter((code) => /limit_reached/.test(code)),
        codes.join('\n'),
      ).not.toEqual([]);
    } finally {
      await setPolicy(limit, registry[limit].default as number);
    }
  });
});

describe.each(hourly)('$id', ({ operation }) => {
  it('is answered so many times an hour for one caller', async () => {
    const statuses = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await send(operation, count, api.people['operator']!.apiKey)).statusCode);
    expect(statuses[2]).toBe(429);
    expect(statuses.slice(0, 2)).not.toContain(429);
    const other = await send(operation, 9, api.people['other']!.apiKey);
    expect(other.statusCode).not.toBe(429);
  });
});

describe('many at a time', () => {
  it('do not pass a limit together', async () => {
    const person = await signUp(api, 'founder');
    await setPolicy('tenancy.max_organizations_per_person', 3);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, count) =>
        person.ask('POST', '/api/v1/organizations', { name: `tenant ${count} ${newId()}` }),
      ),
    );
    await setPolicy('tenancy.max_organizations_per_person', 10);
    // Signing up opened the first.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ body }) => body['code'] === 'limit_reached')).toHaveLength(10);
  });
});

function send(operation: Operation, seed: number, key: string) {
  const known = { ...valuesFor(operation.id), name: [`limit ${newId()}`] };
  const [request] = fc.sample(plainRequests(contract, operation, known), { seed, numRuns: 1 });
  const { projectId } = api.people['admin']!;
  // A person has no key yet, the project has.
  const payload =
    operation.id === 'createSshKey'
      ? JSON.stringify({ ...(JSON.parse(request!.payload!) as object), project_id: projectId })
      : request!.payload;
  return api.server.inject({
    method: request!.method as 'POST',
    url: request!.url,
    headers: { ...request!.headers, authorization: `Bearer ${key}` },
    ...(payload === undefined ? {} : { payload }),
  });
}

async function setPolicy(key: string, value: number): Promise<void> {
  await sql`insert into policy_values (key, value) values (${key}, ${String(value)}::jsonb)
    on conflict (key, organization_id, project_id) do update set value = excluded.value`.execute(
    api.services.db,
  );
  await api.services.policies.refresh();
}
