import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { newId } from '@gpuaas/control-plane/platform/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallers, keyOfHolder, NO_ROLE, type RoleCaller } from '../contract/access/callers.ts';
import { Contract, type Operation } from '../contract/operations.ts';
import { createTestApi, NO_LIMITS, type TestApi } from '../harness/api.ts';
import { worstBodies } from './worst-body.ts';

const MOST_ERRORS = 20;
const contract = new Contract(document);
const withBody = contract.operations
  .filter(({ body }) => body !== null)
  .map((operation) => ({ id: operation.id, operation }));
const guarded = withBody.filter(({ operation }) => ![null, 'self'].includes(operation.permission));

let api: TestApi;
let callers: RoleCaller[];
beforeAll(async () => {
  api = await createTestApi();
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, {
    owner: tenantOf('admin'),
    other: tenantOf('other'),
  });
});
afterAll(() => api?.stop());

describe.each(guarded)('$id', ({ operation }) => {
  it('refuses a caller without the permission before it reads the body, and audits that', async () => {
    const caller = callers.find(({ role, standing }) => role === NO_ROLE && standing === 'owner tenant')!;
    // Neither JSON nor within the limit: reading it would answer 400 or 413.
    for (const payload of ['{"', `{"x":"${'a'.repeat(operation.maxBodyBytes)}"}`]) {
      const answer = await send(api, operation, payload, caller.keys.valid);
      expect(answer.statusCode, answer.body).toBe(403);
      expect(answer.json()).toMatchObject({
        code: 'forbidden',
        permission: operation.permission,
      });
      const row = await api.services.db
        .selectFrom('audit_logs')
        .select(['action', 'result', 'ip', 'actor_user_id'])
        .where('correlation_id', '=', String(answer.headers['x-correlation-id']))
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({
        action: operation.audit ?? operation.permission,
        result: 'denied',
      });
      expect(row.ip).not.toBeNull();
      expect(row.actor_user_id).not.toBeNull();
    }
  });
});

describe.each(withBody)('$id', ({ operation }) => {
  it(`names at most ${MOST_ERRORS} mistakes of the worst bodies`, async () => {
    for (const payload of worstBodies(contract, operation)) {
      const answer = await send(api, operation, payload, keyFor(operation));
      expect(answer.statusCode, `${payload.slice(0, 80)} → ${answer.body.slice(0, 200)}`).toBe(400);
      expect(answer.json<{ errors?: unknown[] }>().errors?.length ?? 0).toBeLessThanOrEqual(MOST_ERRORS);
    }
  });
});

describe('a small form', () => {
  it('gets every error in the answer', async () => {
    const operation = withBody.find(({ id }) => id === 'createTeam')!.operation;
    const payload = JSON.stringify({
      organization_id: 'x',
      name: '',
      color: 'red',
    });
    const answer = await send(api, operation, payload, api.people['admin']!.apiKey);
    expect(answer.statusCode).toBe(400);
    const pointers = answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer);
    expect(pointers.toSorted()).toEqual(['/color', '/name', '/organization_id']);
  });
});

describe('bytes of refused bodies', () => {
  it('are limited for each caller, and before the next body is read', async () => {
    const small = { burst: 10_000, perSecond: 1 };
    const limited = await createTestApi({
      rateLimits: { ...NO_LIMITS, refused_bytes: small },
    });
    try {
      const operation = withBody.find(({ id }) => id === 'createTeam')!.operation;
      const key = limited.people['admin']!.apiKey;
      const payload = JSON.stringify({ unknown: 'a'.repeat(4000) });
      const statuses = [];
      for (let sent = 0; sent < 5; sent += 1) {
        statuses.push((await send(limited, operation, payload, key)).statusCode);
      }
      expect(statuses).toEqual([400, 400, 400, 429, 429]);
      const broken = await send(limited, operation, '{"', key);
      expect(broken.statusCode).toBe(429);
      expect(Number(broken.headers['retry-after'])).toBeGreaterThan(0);
      const other = await send(limited, operation, payload, limited.people['other']!.apiKey);
      expect(other.statusCode).toBe(400);
      const read = await limited.server.inject({
        url: '/api/v1/me',
        headers: bearer(key),
      });
      expect(read.statusCode).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('bytes of bodies that were read and refused for their content', () => {
  it('count as well', async () => {
    const limited = await createTestApi({
      rateLimits: {
        ...NO_LIMITS,
        refused_bytes: { burst: 1000, perSecond: 0.001 },
      },
    });
    try {
      const { apiKey, organizationId } = limited.people['admin']!;
      const headers = { ...bearer(apiKey), 'x-idempotency-key': newId() };
      const statuses = [];
      for (const name of ['first', 'second', 'third', 'fourth']) {
        const payload = {
          organization_id: organizationId,
          name: `${name} ${'a'.repeat(80)}`,
        };
        for (let sent = 0; sent < 5; sent += 1)
          statuses.push(
            (
              await limited.server.inject({
                method: 'POST',
                url: '/api/v1/teams',
                headers,
                payload,
              })
            ).statusCode,
          );
      }
      expect(statuses.slice(0, 6)).toEqual([201, 201, 201, 201, 201, 422]);
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await limited.stop();
    }
  });
});

/** Somebody whose body is read. */
function keyFor({ permission, public: open }: Operation): string {
  if (open || permission === null || permission === 'self') return api.people['admin']!.apiKey;
  return keyOfHolder(callers, permission);
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function send({ server }: TestApi, { method, path }: Operation, payload: string, key: string) {
  return server.inject({
    method: method as 'POST',
    url: path.replaceAll(/\{\w+\}/g, newId()),
    headers: { ...bearer(key), 'content-type': 'application/json' },
    payload,
  });
}
