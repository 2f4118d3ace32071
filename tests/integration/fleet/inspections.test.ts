import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { inspectHosts } from '@gpuaas/control-plane/domains/fleet/health/inspect-hosts';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, addReadiness, approveAll, ask, candidate } from '../../harness/fleet/fleet.ts';

let api: TestApi;
let nodeId: string;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());
beforeEach(async () => {
  nodeId = await addNode(api);
  await approveAll(api, nodeId, [candidate(0, { nvme_serial: `DISK${nodeId.slice(-8)}` })]);
});

const now = (): { from: Date; to: Date } => ({ from: new Date(), to: new Date() });
const worker = () => servicesAsRole(api.services, 'gpuaas_worker');
const inspect = () => inspectHosts.run(worker(), now());

async function openTasks(): Promise<string[]> {
  const rows = await api.services.db
    .selectFrom('node_tasks')
    .select('kind')
    .where('node_id', '=', nodeId)
    .where('finished_at', 'is', null)
    .orderBy('kind')
    .execute();
  return rows.map(({ kind }) => kind);
}

async function finishTasks(createdAt: Date): Promise<void> {
  await api.services.db
    .updateTable('node_tasks')
    .set({ state: 'expired', finished_at: createdAt, created_at: createdAt })
    .where('node_id', '=', nodeId)
    .execute();
}

const ALL = ['slice.prereq_check', 'slice.reconcile', 'slice.topology_discover'];

it('asks every host for sale by the interval and after a boot, once each', async () => {
  await finishTasks(new Date(Date.now() - 7_200_000));
  await inspect();
  expect(await openTasks()).toEqual(ALL);
  await inspect();
  expect(await openTasks()).toEqual(ALL);

  await finishTasks(new Date(Date.now() - 60_000));
  await inspect();
  expect(await openTasks()).toEqual([]);
  await api.services.db
    .updateTable('nodes')
    .set({ booted_at: new Date(Date.now() - 30_000) })
    .where('id', '=', nodeId)
    .execute();
  await inspect();
  expect(await openTasks()).toEqual(ALL);
});

it('leaves a silent host and a host without slots alone', async () => {
  const { db } = api.services;
  await finishTasks(new Date(Date.now() - 7_200_000));
  await db
    .updateTable('nodes')
    .set({ last_heartbeat_at: new Date(Date.now() - 3_600_000) })
    .where('id', '=', nodeId)
    .execute();
  await inspect();
  expect(await openTasks()).toEqual([]);
  nodeId = await addNode(api);
  await inspect();
  expect(await openTasks()).toEqual([]);
});

it('a host that no longer meets its prerequisites is cordoned with an incident until a check passes', async () => {
  interface Node {
    posture: string;
    cordons: { reason: string; detail: string }[];
    states: { observed: string };
  }
  const node = async (): Promise<Node> => (await ask<Node>(api, 'operator', 'GET', `/nodes/${nodeId}`)).body;
  const reconcile = () => reconcileNodes().run(worker(), now());
  const incidents = async () =>
    (
      await api.services.db
        .selectFrom('incidents')
        .select('target_id')
        .where('type', '=', 'node_not_ready')
        .where('resolved_at', 'is', null)
        .execute()
    ).map(({ target_id }) => target_id);
  await addReadiness(api, nodeId);
  await reconcile();
  expect((await node()).cordons.map(({ reason }) => reason)).not.toContain('not_ready');

  await addReadiness(api, nodeId, ['iommu', 'hugepages']);
  await reconcile();
  const seen = await node();
  expect(seen).toMatchObject({ posture: 'unavailable', states: { observed: 'degraded' } });
  expect(seen.cordons.find(({ reason }) => reason === 'not_ready')?.detail).toMatch(/iommu: .*; hugepages: /);
  expect(await incidents()).toContain(nodeId);

  await addReadiness(api, nodeId);
  await reconcile();
  expect((await node()).cordons.map(({ reason }) => reason)).not.toContain('not_ready');
  expect(await incidents()).not.toContain(nodeId);
});
