import { endAbandonedConversions } from '@gpuaas/control-plane/domains/fleet/conversion/end-abandoned';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { addNode, ask, offerWholeNode } from '../../harness/fleet/fleet.ts';
import { keepWorkers, type Workers } from './keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from './lifecycle-world.ts';

interface Conversion {
  id: string;
  state: string;
  detail: string | null;
}
interface Node {
  mode: string;
  cordons: { reason: string }[];
  slot_counts: Record<string, number>;
}

let world: LifecycleWorld;
let workers: Workers;
let nodeId: string;
beforeAll(async () => {
  world = await openLifecycleWorld({ nodes: 1 });
  nodeId = world.nodeIds[0]!;
  workers = keepWorkers(1, world.env);
}, 180_000);
afterAll(async () => {
  await workers?.stop();
  await world?.stop();
});

const convert = (mode: string) =>
  ask<Conversion & { code: string }>(world.api, 'operator', 'POST', `/nodes/${nodeId}/convert`, {
    mode,
    reason: 'demand',
  });
const node = async (id = nodeId): Promise<Node> =>
  (await ask<Node>(world.api, 'operator', 'GET', `/nodes/${id}`)).body;

async function ended(id: string, of = nodeId): Promise<Conversion> {
  return await eventually('the conversion to end', async () => {
    const { body } = await ask<{ items: Conversion[] }>(
      world.api,
      'operator',
      'GET',
      `/nodes/${of}/conversions`,
    );
    const found = body.items.find((conversion) => conversion.id === id);
    return found && found.state !== 'running' ? found : null;
  });
}

it('is refused while claims are live, to tenants, and when nothing would change', async () => {
  const id = await world.launch();
  expect(await convert('baremetal')).toMatchObject({ status: 409, body: { code: 'node_in_use' } });
  await world.waitFor([id], ['active'], 90_000);
  await world.post('member', `/allocations/${id}/release`);
  await world.waitFor([id], ['released'], 90_000);
  expect(await convert('slice')).toMatchObject({ status: 409, body: { code: 'node_mode_unchanged' } });
  const tenant = await ask(world.api, 'member', 'POST', `/nodes/${nodeId}/convert`, {
    mode: 'baremetal',
    reason: 'mine',
  });
  expect(tenant.status).toBe(403);
  const direct = await ask(world.api, 'operator', 'PATCH', `/nodes/${nodeId}`, { mode: 'baremetal' });
  expect(direct).toMatchObject({ status: 400 });
}, 240_000);

it('is the first promotion of a new host: its devices are bound, it is checked and discovered', async () => {
  const fresh = await addNode(world.api, { mode: null });
  const request = (mode: string) =>
    ask<Conversion & { code: string }>(world.api, 'operator', 'POST', `/nodes/${fresh}/convert`, {
      mode,
      reason: 'new',
    });
  const { status, body } = await request('slice');
  expect(status).toBe(202);
  expect(await request('slice')).toMatchObject({ body: { code: 'node_conversion_running' } });
  const asked = await eventually('the host to be asked', async () => {
    const tasks = await world.api.services.db
      .selectFrom('node_tasks')
      .select(['kind', 'params'])
      .where('workflow_id', '=', `convert:${body.id}`)
      .execute();
    return tasks.length > 0 ? tasks : null;
  });
  expect(asked).toEqual([{ kind: 'node.set_mode', params: { mode: 'slice' } }]);
  world.hosts.add(fresh);
  await world.hosts.beatOnce();
  const promoted = await ended(body.id, fresh);
  expect(promoted).toMatchObject({ state: 'succeeded', from_mode: null, to_mode: 'slice' });
  expect(await node(fresh)).toMatchObject({ mode: 'slice' });
}, 240_000);

it('that fails on a new host leaves it without a mode, bound as its operating system does', async () => {
  const fresh = await addNode(world.api, { mode: null });
  world.hosts.add(fresh);
  await world.hosts.beatOnce();
  world.hosts.mood(fresh, 'node.set_mode', 'fails', 1);
  const body = { mode: 'slice', reason: 'new' };
  const asked = await ask<Conversion>(world.api, 'operator', 'POST', `/nodes/${fresh}/convert`, body);
  expect((await ended(asked.body.id, fresh)).state).toBe('undone');
  expect(world.hosts.host(fresh).mode).toBe('baremetal');
  expect(await node(fresh)).toMatchObject({ mode: null, cordons: [], posture: 'unavailable' });
}, 240_000);

it('takes the host out of sale, to baremetal and back; then every slot is approved again', async () => {
  const there = await convert('baremetal');
  expect(there.status).toBe(202);
  expect((await ended(there.body.id)).state).toBe('succeeded');
  expect(world.hosts.host(nodeId).mode).toBe('baremetal');
  expect(await node()).toMatchObject({
    mode: 'baremetal',
    cordons: [],
    slot_counts: { disabled: 8, available: 0 },
    posture: 'unavailable',
    posture_reason: 'No whole-node offer is approved.',
  });
  expect((await offerWholeNode(world.api, nodeId)).status).toBe(200);
  expect(await node()).toMatchObject({ posture: 'fully_available', slot_counts: { available: 8 } });
  await expect(world.launch()).rejects.toThrow('sku_unavailable');

  const back = await convert('slice');
  expect((await ended(back.body.id)).state).toBe('succeeded');
  expect(await node()).toMatchObject({ mode: 'slice', cordons: [], slot_counts: { disabled: 8 } });
  await expect(world.launch()).rejects.toThrow('sku_unavailable');
}, 240_000);

it('that fails is undone; where that fails too the host stays cordoned with an incident', async () => {
  world.hosts.mood(nodeId, 'node.set_mode', 'fails', 1);
  const undone = await convert('baremetal');
  expect(await ended(undone.body.id)).toMatchObject({ state: 'undone', detail: expect.any(String) });
  expect(await node()).toMatchObject({ mode: 'slice', cordons: [] });

  world.hosts.mood(nodeId, 'node.set_mode', 'fails', 2);
  const failed = await convert('baremetal');
  expect((await ended(failed.body.id)).state).toBe('failed');
  expect(await node()).toMatchObject({ mode: 'slice', cordons: [{ reason: 'conversion' }] });
  const incidents = () =>
    world.api.services.db
      .selectFrom('incidents')
      .select('target_id')
      .where('type', '=', 'node_conversion_failed')
      .where('resolved_at', 'is', null)
      .execute();
  expect(await incidents()).toEqual([{ target_id: nodeId }]);

  const repaired = await convert('slice');
  expect((await ended(repaired.body.id)).state).toBe('succeeded');
  expect(await node()).toMatchObject({ mode: 'slice', cordons: [] });
  expect(await incidents()).toEqual([]);
}, 240_000);

it('that is given up leaves no task behind that would bind the host once more', async () => {
  const { db } = world.api.services;
  const host = world.hosts.host(nodeId);
  host.cut = true;
  const { body } = await convert('baremetal');
  const workflow = `convert:${body.id}`;
  const tasks = () =>
    db.selectFrom('node_tasks').select(['kind', 'state']).where('workflow_id', '=', workflow).execute();
  await eventually('the host to be asked', async () => ((await tasks()).length > 0 ? true : null));
  await world.api.services.workflows.cancel(db, workflow);
  await db
    .updateTable('node_conversions')
    .set({ requested_at: new Date(Date.now() - 600_000) })
    .where('id', '=', body.id)
    .execute();
  expect(await endAbandonedConversions(servicesAsRole(world.api.services, 'gpuaas_worker'))).toBe(1);
  expect(await tasks()).toEqual([{ kind: 'node.set_mode', state: 'expired' }]);
  host.cut = false;
  await world.hosts.beatOnce();
  const repaired = await convert('slice');
  expect((await ended(repaired.body.id)).state).toBe('succeeded');
  expect(host.mode).toBe('slice');
}, 240_000);

it('whose workflow is gone fails instead of running indefinitely, and can be repaired', async () => {
  await workers.stop();
  const lost = await convert('baremetal');
  expect(lost.status).toBe(202);
  const { db } = world.api.services;
  const worker = servicesAsRole(world.api.services, 'gpuaas_worker');
  const longAgo = new Date(Date.now() - 600_000);
  await db
    .updateTable('node_conversions')
    .set({ requested_at: longAgo })
    .where('id', '=', lost.body.id)
    .execute();
  // It waits for a worker, so it is not lost yet.
  expect(await endAbandonedConversions(worker)).toBe(0);
  await db.deleteFrom('workflow_starts').where('workflow_id', '=', `convert:${lost.body.id}`).execute();
  expect(await endAbandonedConversions(worker)).toBe(1);
  expect((await ended(lost.body.id)).state).toBe('failed');
  expect(await node()).toMatchObject({ mode: 'slice', cordons: [{ reason: 'conversion' }] });
  workers = keepWorkers(1, world.env);
  const repaired = await convert('slice');
  expect((await ended(repaired.body.id)).state).toBe('succeeded');
  expect(await node()).toMatchObject({ cordons: [] });
}, 240_000);
