import { reconcileAllocations } from '@gpuaas/control-plane/domains/allocations/reconcile/reconcile-allocations';
import { recordHeartbeat } from '@gpuaas/control-plane/domains/fleet/health/record-heartbeat';
import { inScope, servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { ObservedVm } from '@gpuaas/control-plane/platform/db/stored-types';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { ask } from '../../harness/fleet/fleet.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
let nodeId: string;
let allocationId: string;
beforeAll(async () => {
  api = await createTestApi();
  ({ nodeId } = await addHost(api.services.db, 1));
  allocationId = await seedAllocation(api.services.db, api.people['member']!);
  await sql`update allocations set node_id = ${nodeId}, capacity_shape = 'gpu_slice', observed_state = 'running',
    active_at = now() - interval '1 hour' where id = ${allocationId}`.execute(api.services.db);
});
afterAll(() => api?.stop());

/** The host reports the machine, and the platform compares. */
async function report(actual_ip: string | null, state: ObservedVm['state'] = 'running'): Promise<void> {
  const { services } = api;
  const lease_state = actual_ip === null ? 'missing' : actual_ip === '10.0.0.10' ? 'bound' : 'mismatch';
  const network = { mac: '52:54:00:00:00:01', expected_ip: '10.0.0.10', actual_ip, lease_state } as const;
  const started_at = '2026-01-01T00:00:00Z';
  await inScope(services.db, { role: 'gpuaas_node', nodeId }, async (tx) => {
    await recordHeartbeat(services, tx, nodeId, {
      boot_id: 'b',
      agent_version: '0.1.0',
      agent_time: new Date().toISOString(),
      leases: [],
      vms: [{ allocation_id: allocationId, state, started_at, network }],
    });
  });
  const now = services.clock.now();
  await reconcileAllocations.run(servicesAsRole(services, 'gpuaas_worker'), { from: now, to: now });
}

async function openIncidents() {
  const url = '/incidents?state=open&limit=200';
  const { body } = await ask<{ items: { type: string; summary: string }[] }>(api, 'operator', 'GET', url);
  return body.items.filter(({ type }) => type === 'allocation_network_lost');
}

it('a machine that runs without its address is an incident until it has it', async () => {
  await report('10.0.0.10');
  expect(await openIncidents()).toEqual([]);
  await report(null);
  expect(await openIncidents()).toMatchObject([
    {
      target_id: allocationId,
      summary: expect.stringContaining('should have 10.0.0.10 and has no address'),
      detail: { mac: '52:54:00:00:00:01', expected_ip: '10.0.0.10', actual_ip: null, lease_state: 'missing' },
    },
  ]);
  await report('10.0.0.11');
  expect(await openIncidents()).toMatchObject([{ target_id: allocationId }]);
  await report('10.0.0.10');
  expect(await openIncidents()).toEqual([]);
});

it('another address alone is one too, and the address of a machine that is shut down is none', async () => {
  await report('10.0.0.11');
  expect(await openIncidents()).toMatchObject([
    { summary: expect.stringContaining('has 10.0.0.11'), detail: { lease_state: 'mismatch' } },
  ]);
  await report(null, 'stopped');
  expect(await openIncidents()).toEqual([]);
});
