import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../harness/api.ts';
import { createCallers, keyOfHolder, type RoleCaller } from './access/callers.ts';
import { Contract, type Operation } from './operations.ts';

const ID = '019a8000-0000-7000-8000-000000000001';

let api: TestApi;
let node: FastifyInstance;
let callers: RoleCaller[];
beforeAll(async () => {
  api = await createTestApi();
  node = await createTestNodeApi(api);
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
});
afterAll(async () => {
  await node?.close();
  await api?.stop();
});

describe.each([
  { name: 'public', contract: new Contract(document), server: () => api.server },
  { name: 'node', contract: new Contract(nodeDocument), server: () => node },
])('bodies of the $name API', ({ contract, server }) => {
  const withBody = contract.operations.filter(({ body }) => body !== null);

  it.each(withBody.map((operation) => ({ id: operation.id, operation })))(
    'are read up to the declared size and refused beyond it: $id',
    async ({ operation }) => {
      const { maxBodyBytes } = operation;
      const fits = await send(server(), operation, `{"x":"${'a'.repeat(maxBodyBytes - 8)}"}`);
      expect([400, 403]).toContain(fits.statusCode);
      const beyond = await send(server(), operation, `{"x":"${'a'.repeat(maxBodyBytes - 7)}"}`);
      expect(beyond.statusCode).toBe(413);
      expect(beyond.json()).toMatchObject({ code: 'body_too_large', status: 413 });
    },
  );
});

/** Somebody whose body is read. */
function keyFor({ permission }: Operation): string {
  if (permission === null || permission === 'self') return api.people['operator']!.apiKey;
  return keyOfHolder(callers, permission);
}

function send(server: FastifyInstance, operation: Operation, payload: string) {
  return server.inject({
    method: operation.method as 'POST',
    url: operation.path.replaceAll(/\{\w+\}/g, ID),
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${keyFor(operation)}`,
      [TEST_NODE_HEADER]: ID,
    },
    payload,
  });
}
