import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 2 });
});
afterAll(() => platform?.stop());

const PATH = '/api/v1/allocations/{allocation_id}/ingress';
const at = (id: string) => ({ params: { path: { allocation_id: id } } });
const attach = (id: string, body: { machine_port: number; public_port?: number }) =>
  platform.admin.POST(PATH, { ...at(id), body });
const list = async (id: string) => (await unwrap(platform.member.GET(PATH, at(id)))).items;
const setPolicy = (policy_name: string, value: string | string[]) =>
  unwrap(
    platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path: { policy_name } },
      body: { value, reason: 'For the tests.' },
    }),
  );

async function inState(id: string, state: string) {
  return await eventually(`${state} ingress`, async () =>
    (await list(id)).find((one) => one.state === state),
  );
}

describe('public ingress', () => {
  it('is off until policy names an owner and a pool', async () => {
    const { member, projectId } = platform;
    const { id } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active');
    expect((await attach(id, { machine_port: 443 })).error).toMatchObject({ code: 'ingress_not_offered' });
    await setPolicy('ingress.pool', ['203.0.113.8/31']);
    expect((await attach(id, { machine_port: 443 })).error).toMatchObject({ code: 'ingress_not_offered' });
    await setPolicy('ingress.owner', 'network@gpuaas.example');
    const { error, response } = await member.POST(PATH, { ...at(id), body: { machine_port: 443 } });
    expect([response.status, error?.code]).toEqual([403, 'forbidden']);
  });

  it('leads a port to a machine, and is seen gone before the port is given to another', async () => {
    const { member, admin, projectId, operator } = platform;
    const [one, two] = [await launch(member, projectId, 8), await launch(member, projectId, 1)];
    for (const { id } of [one, two]) await waitForState(member, id, 'active');
    const made = await unwrap(attach(one.id, { machine_port: 443 }));
    expect(made).toMatchObject({
      state: 'attaching',
      public_address: '203.0.113.8',
      public_port: 443,
      failure: null,
    });
    expect(await inState(one.id, 'attached')).toMatchObject({ id: made.id });

    // The address stands on the other machine's host, so this one gets the next; then none is left.
    const second = await unwrap(attach(two.id, { machine_port: 8080, public_port: 443 }));
    expect(second.public_address).toBe('203.0.113.9');
    expect((await attach(two.id, { machine_port: 8081, public_port: 443 })).error).toMatchObject({
      code: 'ingress_pool_exhausted',
    });
    expect((await attach(two.id, { machine_port: 22, public_port: 2222 })).error).toMatchObject({
      code: 'ingress_port_refused',
    });
    await inState(two.id, 'attached');

    // The host agrees with the platform.
    const { node_id } = await platform.services.db
      .selectFrom('allocations')
      .select('node_id')
      .where('id', '=', two.id)
      .executeTakeFirstOrThrow();
    const path = { node_id: node_id! };
    const asked = await unwrap(
      operator.POST('/api/v1/admin/nodes/{node_id}/reconciliation', { params: { path } }),
    );
    const found = await eventually('the comparison', async () => {
      const { task, output } = await unwrap(
        operator.GET('/api/v1/admin/tasks/{task_id}', { params: { path: { task_id: asked.id } } }),
      );
      return task.state === 'succeeded' ? (output as { findings: unknown[] }).findings : null;
    });
    expect(found).toEqual([]);

    const ingress = { allocation_id: two.id, ingress_id: second.id };
    const path2 = '/api/v1/allocations/{allocation_id}/ingress/{ingress_id}';
    const detached = await unwrap(admin.DELETE(path2, { params: { path: ingress } }));
    expect(detached.state).toBe('detaching');
    await eventually('nothing leads there', async () => ((await list(two.id)).length === 0 ? true : null));

    // A port that ends with its machine is free again once the machine's slot is proven clean.
    await release(member, one.id);
    await waitForState(member, one.id, 'released');
    await eventually('the port is free', async () => ((await list(one.id)).length === 0 ? true : null));
    const again = await unwrap(attach(two.id, { machine_port: 443 }));
    expect(again.public_address).toBe('203.0.113.8');
    await inState(two.id, 'attached');
  });

  it('ends everywhere when the policy no longer has an owner', async () => {
    const { services } = platform;
    await setPolicy('ingress.owner', '');
    await eventually('nothing leads anywhere', async () => {
      const rows = await services.db
        .selectFrom('public_ingresses')
        .select('id')
        .where('state', '!=', 'detached')
        .execute();
      return rows.length === 0 ? true : null;
    });
    const { items } = await unwrap(
      platform.operator.GET('/api/v1/admin/audit-logs', { params: { query: { limit: 200 } } }),
    );
    const actions = items.map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(['allocation.attach_ingress', 'allocation.detach_ingress']),
    );
  });
});
