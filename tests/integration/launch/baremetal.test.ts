import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, release, waitForState } from '../../harness/allocations/allocations.ts';
import { eventually } from '../../harness/eventually.ts';
import { convertNode, offerWholeNode } from '../../harness/fleet/whole-nodes.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const SKU = 'h200-sxm-baremetal';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
}, 180_000);
afterAll(() => platform?.stop());

const wholeNode = () => ({ ...launchBody(platform.projectId, 8), sku: SKU });
const launch = () => platform.member.POST('/api/v1/allocations', { body: wholeNode() });

function liveClaims() {
  return platform.services.db
    .selectFrom('allocation_resource_claims')
    .select(['claim_kind', 'slot_id', 'allocation_id'])
    .where('released_at', 'is', null)
    .execute();
}

async function gpusHeld(): Promise<number> {
  const { organizationId } = await projectRow();
  const { items } = await unwrap(
    platform.admin.GET('/api/v1/organizations/{organization_id}/quotas', {
      params: { path: { organization_id: organizationId }, query: { holder_id: platform.projectId } },
    }),
  );
  return items.find(({ measure }) => measure === 'gpus')!.used;
}

async function identityOf(nodeId: string) {
  const params = { path: { node_id: nodeId } };
  return await unwrap(platform.operator.GET('/api/v1/admin/nodes/{node_id}/identity', { params }));
}

async function projectRow(): Promise<{ organizationId: string }> {
  return await platform.services.db
    .selectFrom('projects')
    .select('organization_id as organizationId')
    .where('id', '=', platform.projectId)
    .executeTakeFirstOrThrow();
}

async function posture(nodeId: string): Promise<string> {
  const params = { path: { node_id: nodeId } };
  const { posture: name, posture_reason: reason } = await unwrap(
    platform.operator.GET('/api/v1/admin/nodes/{node_id}', { params }),
  );
  return `${name}: ${reason}`;
}

/** Long enough after its start that a heartbeat is believed. */
async function observedAfterNextHeartbeat(allocationId: string): Promise<string> {
  const { db } = platform.services;
  const { node_id: nodeId } = await db
    .updateTable('allocations')
    .set({ active_at: sql`active_at - interval '1 minute'` })
    .where('id', '=', allocationId)
    .returning('node_id')
    .executeTakeFirstOrThrow();
  const since = new Date();
  await eventually('a heartbeat', async () => {
    const node = db.selectFrom('nodes').select('last_heartbeat_at').where('id', '=', nodeId!);
    const { last_heartbeat_at: heard } = await node.executeTakeFirstOrThrow();
    return heard && heard > since ? heard : null;
  });
  const params = { path: { allocation_id: allocationId } };
  const { states } = await unwrap(platform.member.GET('/api/v1/allocations/{allocation_id}', { params }));
  return states.observed;
}

it('a whole node is quoted, leased once, given to its user, and comes back clean', async () => {
  const { operator, member } = platform;
  expect((await launch()).error).toMatchObject({ code: 'sku_unknown' });
  await unwrap(
    operator.PATCH('/api/v1/admin/skus/{sku}', { params: { path: { sku: SKU } }, body: { enabled: true } }),
  );
  expect((await launch()).error).toMatchObject({ code: 'sku_unavailable' });
  const { items: nodes } = await unwrap(operator.GET('/api/v1/admin/nodes'));
  await convertNode(operator, nodes[0]!.id, 'baremetal');
  expect(await posture(nodes[0]!.id)).toBe('unavailable: No whole-node offer is approved.');
  expect((await launch()).error).toMatchObject({ code: 'sku_unavailable' });
  await offerWholeNode(operator, nodes[0]!.id);
  // The adapters of a host in baremetal mode have no virtual functions, and nothing misses them.
  await reconcileNodes().run(servicesAsRole(platform.services, 'gpuaas_worker'), {
    from: new Date(),
    to: new Date(),
  });
  expect(await posture(nodes[0]!.id)).toMatch(/^fully_available/);
  const { items: skus } = await unwrap(member.GET('/api/v1/skus'));
  expect(skus.find(({ sku }) => sku === SKU)).toMatchObject({
    capacity_shape: 'baremetal',
    availability: [{ gpus_available: 8, by_gpu_count: [{ gpu_count: 8, available: 1 }] }],
  });
  expect(skus.find(({ sku }) => sku === 'h200-sxm-slice')!.availability[0]!.gpus_available).toBe(0);

  const before = await identityOf(nodes[0]!.id);
  const allocation = await unwrap(launch());
  expect(allocation).toMatchObject({
    capacity_shape: 'baremetal',
    gpu_count: 8,
    quote: { per_gpu_hour: { currency: 'USD', micros: 2_790_000 } },
  });
  expect(await liveClaims()).toEqual([
    { claim_kind: 'node_exclusive', slot_id: null, allocation_id: allocation.id },
  ]);
  expect(await gpusHeld()).toBe(8);
  expect((await launch()).error).toMatchObject({ code: 'sku_unavailable' });
  await waitForState(member, allocation.id, 'active', 120_000);
  expect(await observedAfterNextHeartbeat(allocation.id)).toBe('running');

  await release(member, allocation.id);
  await waitForState(member, allocation.id, 'released', 120_000);
  expect(await liveClaims()).toEqual([]);
  expect(await gpusHeld()).toBe(0);
  expect(await verifyQuotas(platform.services.db, 10)).toEqual([]);
  const cleaned = { params: { path: { allocation_id: allocation.id } } };
  const { items: proofs } = await unwrap(
    member.GET('/api/v1/allocations/{allocation_id}/host-cleanups', cleaned),
  );
  expect(proofs).toMatchObject([{ method: 'user_removed', verified: true, proven_by: 'host' }]);
  expect(proofs[0]!.verification.length).toBeGreaterThan(0);

  // The host is not leased before it has used a new key, and the old one is revoked by then.
  const next = await eventually('the host to be sold again', async () => {
    const answer = await launch();
    if (answer.data) return answer.data;
    expect(answer.error).toMatchObject({ code: 'sku_unavailable' });
    return null;
  });
  const after = await identityOf(nodes[0]!.id);
  expect(after).toMatchObject({ state: 'active', rotation_since: null });
  const old = new Set(before.certificates.map(({ serial_number }) => serial_number));
  expect(after.certificates.some(({ serial_number }) => !old.has(serial_number))).toBe(true);
  for (const { serial_number, revoked_at } of after.certificates) {
    expect(revoked_at !== null, serial_number).toBe(old.has(serial_number));
  }
  await waitForState(member, next.id, 'active', 120_000);
}, 300_000);
