import fc from 'fast-check';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { createSignIn } from '@gpuaas/control-plane/platform/auth/sign-ins';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../harness/api.ts';
import { openSignIn } from '../harness/sign-in/open-sign-in.ts';
import { createCallers, NO_ROLE, type RoleCaller } from './access/callers.ts';
import { expectation } from './access/expectation.ts';
import { targetRequests } from './access/target-requests.ts';
import { CANNOT_SUCCEED, seedKnownResources, type KnownValues } from './known-resources.ts';
import { notAudited } from './not-audited.ts';
import { Contract } from './operations.ts';
import { plainRequests, type GeneratedRequest } from './requests.ts';

const contracts = { public: new Contract(document), node: new Contract(nodeDocument) };
const mutations = Object.entries(contracts).flatMap(([name, contract]) =>
  contract.operations
    .filter(({ method, audit }) => method !== 'GET' || audit !== null)
    .map((operation) => ({ id: operation.id, operation, contract, name: name as 'public' | 'node' })),
);
const audited = mutations.filter(({ operation }) => operation.audit !== null);

let api: TestApi;
let node: FastifyInstance;
let valuesFor: (operation: string) => KnownValues;
let callers: RoleCaller[];
let credentials: Record<string, string>[];

beforeAll(async () => {
  api = await createTestApi();
  node = await createTestNodeApi(api);
  const seeded = await seedKnownResources(api);
  ({ valuesFor } = seeded);
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
  credentials = [
    { [TEST_NODE_HEADER]: seeded.nodeId },
    ...Object.values(api.people).map(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
    await signInOf('admin@acme.test'),
  ];
});
afterAll(async () => {
  await node?.close();
  await api?.stop();
});

describe('mutations', () => {
  it('name the action of their audit row, or have a reason in tests/contract/not-audited.ts', () => {
    const silent = mutations.filter(({ operation }) => operation.audit === null).map(({ id }) => id);
    expect(silent.toSorted()).toEqual(Object.keys(notAudited).toSorted());
  });
});

describe.each(audited)('$id', ({ operation, contract, name }) => {
  const { permission } = operation;
  if (permission !== null && (permission !== 'self' || operation.targets.length > 0)) {
    it('leaves an audit row when it is denied, in one’s own tenant and from another', async () => {
      const { existing } = targetRequests(contract, operation, valuesFor(operation.id));
      for (const standing of ['owner tenant', 'other tenant', 'platform'] as const) {
        const caller = callers.find((one) => one.role === NO_ROLE && one.standing === standing)!;
        const denied = expectation(operation, caller, 'existing');
        expect(denied).not.toBe('passes');
        const answer = await ask(name, existing, { authorization: `Bearer ${caller.keys.valid}` });
        expect(answer.status, answer.body).toBe(denied);
        const rows = await rowsOf(answer.id);
        expect(rows, `${standing}: ${answer.status}`).toHaveLength(1);
        expect(rows[0]).toMatchObject({ action: operation.audit, result: 'denied' });
        expect(rows[0]!.actor_user_id).not.toBeNull();
      }
    });
  }

  it('leaves an audit row when it succeeds', async () => {
    const requests = fc.sample(plainRequests(contract, operation, valuesFor(operation.id)), {
      seed: 11,
      numRuns: 3,
    });
    const answers = [];
    for (const request of requests) {
      for (const credential of credentials) {
        await giveWork[operation.id]?.();
        answers.push(await ask(name, request, credential));
      }
    }
    const succeeded = answers.filter(({ status }) => status < 400);
    const said = answers.map(({ status, body }) => `${status} ${body.slice(0, 200)}`);
    expect(succeeded.length > 0, said.join('\n')).toBe(!(operation.id in CANNOT_SUCCEED));
    for (const { id } of succeeded) {
      const [row, ...others] = await rowsOf(id);
      expect(row).toMatchObject({ action: operation.audit, result: 'succeeded' });
      expect(row!.target_id).not.toBe('unknown');
      expect(others).toEqual([]);
    }
  });
});

/** Operations that leave no row when there was nothing to change: what gives them something. */
const giveWork: Record<string, () => Promise<unknown>> = {
  revokeOtherSignIns: () =>
    api.services.db.transaction().execute(async (tx) => {
      for (const { userId } of await tx.selectFrom('users').select('id as userId').execute())
        await createSignIn(tx, api.services, { userId, userAgent: 'another device', ip: '127.0.0.1' });
    }),
};

async function ask(
  name: 'public' | 'node',
  { method, url, headers, payload }: GeneratedRequest,
  credential: Record<string, string>,
): Promise<{ id: string; status: number; body: string }> {
  const id = newId();
  const answer = await (name === 'node' ? node : api.server).inject({
    method: method as 'GET',
    url,
    headers: { ...headers, ...credential, 'x-correlation-id': id },
    ...(payload === undefined ? {} : { payload }),
  });
  return { id, status: answer.statusCode, body: answer.body };
}

async function rowsOf(correlationId: string) {
  return await api.services.db
    .selectFrom('audit_logs')
    .select(['action', 'result', 'target_id', 'actor_user_id'])
    .where('correlation_id', '=', correlationId)
    .execute();
}

async function signInOf(email: string): Promise<Record<string, string>> {
  const { cookie } = await openSignIn(api, email);
  const me = await api.server.inject({ url: '/api/v1/me', headers: { cookie } });
  return { cookie, 'x-csrf-token': me.json<{ csrf_token: string }>().csrf_token };
}
