import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { recordHeartbeat, type Heartbeat } from '@gpuaas/control-plane/domains/fleet/health/record-heartbeat';
import { servicesAsRole, inScope } from '@gpuaas/control-plane/platform/db/scope';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addDiscovery, addNode, approveAll, ask, candidate } from '../../harness/fleet/fleet.ts';

let api: TestApi;
const tick = reconcileNodes();
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

async function reconcile(options: { minimumAgentVersion?: number; later?: number } = {}): Promise<void> {
  const now = new Date(Date.now() + (options.later ?? 0));
  const policies = fixedPolicies({ 'fleet.minimum_agent_version': options.minimumAgentVersion ?? 0 });
  const services = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now }, policies };
  await tick.run(services, { from: now, to: now });
}

async function beat(nodeId: string, change: Partial<Heartbeat>): Promise<void> {
  const { services } = api;
  await inScope(services.db, { role: 'gpuaas_node', nodeId }, async (tx) => {
    const heartbeat = {
      boot_id: 'b',
      agent_version: '0.1.0',
      agent_time: new Date().toISOString(),
      leases: [],
      vms: [],
      ...change,
    };
    await recordHeartbeat(services, tx, nodeId, heartbeat);
  });
}

async function incidentsOf(nodeId: string, state: 'open' | 'resolved'): Promise<string[]> {
  const { body } = await ask<{ items: { type: string; target_id: string; occurrences: number }[] }>(
    api,
    'operator',
    'GET',
    `/incidents?state=${state}&limit=200`,
  );
  return body.items
    .filter((item) => item.target_id === nodeId)
    .map((item) => `${item.type} ${item.occurrences}`);
}

interface Node {
  posture: string;
  cordons: { reason: string }[];
}

async function reasonsOf(nodeId: string): Promise<string[]> {
  const { body } = await ask<Node>(api, 'operator', 'GET', `/nodes/${nodeId}`);
  return body.cordons.map((cordon) => cordon.reason);
}

const gpu = (index: number, state: 'ok' | 'lost' | 'failing', detail?: string) => ({
  pci_address: candidate(index).gpu_pci_address,
  state,
  ...(detail ? { detail } : {}),
});

it('a lost GPU cordons the host, is one incident, and all of it ends when the GPU is back', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0), candidate(1)]);
  await beat(id, { gpus: [gpu(0, 'ok'), gpu(1, 'lost')] });
  await reconcile();
  await reconcile();
  expect(await reasonsOf(id)).toEqual(['gpu_missing']);
  expect(await incidentsOf(id, 'open')).toEqual(['node_device_missing 1']);
  const slots = await ask<{ items: object[] }>(api, 'operator', 'GET', `/nodes/${id}/resource-slots`);
  expect(slots.body.items).toMatchObject([{ health_state: 'healthy' }, { health_state: 'unhealthy' }]);
  await beat(id, { gpus: [gpu(0, 'ok'), gpu(1, 'ok')] });
  await reconcile();
  expect(await reasonsOf(id)).toEqual([]);
  expect(await incidentsOf(id, 'open')).toEqual([]);
  const healed = await ask<{ items: object[] }>(api, 'operator', 'GET', `/nodes/${id}/resource-slots`);
  expect(healed.body.items).toMatchObject([{ health_state: 'healthy' }, { health_state: 'healthy' }]);
});

it('a mounted disk is not leased until it is free again', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0)]);
  const disks = (...mounts: string[]) => ({ disks: [{ serial: candidate(0).nvme_serial!, mounts }] });
  const health = async () =>
    (await ask<{ items: object[] }>(api, 'operator', 'GET', `/nodes/${id}/resource-slots`)).body.items;
  await beat(id, disks('/srv/scratch'));
  await reconcile();
  expect(await health()).toMatchObject([
    {
      health_state: 'unhealthy',
      health_detail: `Mounted: disk ${candidate(0).nvme_serial} on /srv/scratch.`,
    },
  ]);
  expect(await reasonsOf(id)).toEqual([]);
  await beat(id, disks());
  await reconcile();
  expect(await health()).toMatchObject([{ health_state: 'healthy' }]);
});

it('a slot that was disabled for a lost GPU is not called healthy', async () => {
  const id = await addNode(api);
  const { body } = await approveAll(api, id, [candidate(0)]);
  await beat(id, { gpus: [gpu(0, 'lost')] });
  await reconcile();
  const slot = `/nodes/${id}/resource-slots/${body.items[0]!.id}`;
  await ask(api, 'operator', 'POST', `${slot}/disable`, { reason: 'GPU lost' });
  await reconcile();
  const slots = await ask<{ items: object[] }>(api, 'operator', 'GET', `/nodes/${id}/resource-slots`);
  expect(slots.body.items).toMatchObject([{ state: 'disabled', health_state: 'unhealthy' }]);
  expect(await reasonsOf(id)).toEqual([]);
});

it('a device that a discovery no longer finds is missing', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0), candidate(1)]);
  await addDiscovery(api, id, [candidate(0)]);
  await reconcile();
  expect(await incidentsOf(id, 'open')).toEqual(['node_device_missing 1']);
  await addDiscovery(api, id, [candidate(0), candidate(1)]);
  await reconcile();
  expect(await incidentsOf(id, 'resolved')).toEqual(['node_device_missing 1']);
});

it('a failing GPU and an old agent cordon the host', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0)]);
  await beat(id, { gpus: [gpu(0, 'failing', 'XID 79')] });
  await reconcile({ minimumAgentVersion: 200 });
  expect(await reasonsOf(id)).toEqual(['agent_outdated', 'gpu_unhealthy']);
  expect(await incidentsOf(id, 'open')).toEqual(['node_agent_outdated 1', 'node_gpu_unhealthy 1']);
  await beat(id, { gpus: [gpu(0, 'ok')], agent_version: '0.2.0' });
  await reconcile({ minimumAgentVersion: 200 });
  expect(await reasonsOf(id)).toEqual([]);
});

it('silence is an incident after its time box and over at the first sign of life', async () => {
  const id = await addNode(api);
  await beat(id, {});
  await reconcile({ later: 60_000 });
  expect(await incidentsOf(id, 'open')).toEqual([]);
  await reconcile({ later: 600_000 });
  expect(await incidentsOf(id, 'open')).toEqual(['node_unreachable 1']);
  await beat(id, {});
  await reconcile();
  expect(await incidentsOf(id, 'open')).toEqual([]);
});
