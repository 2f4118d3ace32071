import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placementCandidates } from '@gpuaas/control-plane/domains/fleet/index/placement-candidates';
import { watchMaintenance } from '@gpuaas/control-plane/domains/fleet/maintenance/watch-maintenance';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import {
  addDiscovery,
  addNode,
  addReadiness,
  approveAll,
  ask,
  candidate,
  offerWholeNode,
} from '../../harness/fleet/fleet.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

interface Node {
  posture: string;
  mode: string;
  pool: string;
  profile_tags: string[];
  cordons: { reason: string }[];
  draining: boolean;
  drain_reason: string | null;
}

const operator = <T = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  body?: object,
  headers = {},
) => ask<T>(api, 'operator', method, url, body, headers);

async function mayPlace(nodeId: string): Promise<boolean> {
  const nodes = await placementCandidates(
    api.services.policies,
    servicesAsRole(api.services, 'gpuaas_placement').db,
  );
  const { draining, cordoned } = nodes.find((node) => node.nodeId === nodeId)!;
  return !draining && !cordoned;
}

async function claimNode(nodeId: string): Promise<string> {
  const { db } = api.services;
  const allocationId = await seedAllocation(db, api.people['member']!);
  await db.updateTable('allocations').set({ node_id: nodeId }).where('id', '=', allocationId).execute();
  await db
    .insertInto('allocation_resource_claims')
    .values({
      id: newId(),
      allocation_id: allocationId,
      node_id: nodeId,
      claim_kind: 'node_exclusive',
      snapshot: '{}',
    })
    .execute();
  return allocationId;
}

describe('editing a host', () => {
  it('changes what was sent, under the tag that was read; heartbeats do not spoil the tag', async () => {
    const id = await addNode(api);
    const read = await operator<Node>('GET', `/nodes/${id}`);
    const etag = String(read.headers['etag']);
    await api.services.db
      .updateTable('nodes')
      .set({ last_heartbeat_at: new Date(), boot_id: 'another' })
      .where('id', '=', id)
      .execute();
    const change = { pool: 'gold', profile_tags: ['gpuaas-profile-slice-vm'] };
    const edited = await operator<Node>('PATCH', `/nodes/${id}`, change, { 'if-match': etag });
    expect(edited).toMatchObject({ status: 200, body: change });
    const again = await operator<Node>('PATCH', `/nodes/${id}`, { rack: 'r9' }, { 'if-match': etag });
    expect(again).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    const fresh = { 'if-match': String(edited.headers['etag']) };
    expect((await operator<Node>('PATCH', `/nodes/${id}`, { rack: 'r9' }, fresh)).status).toBe(200);
  });

  it('keeps the region while claims are live, and takes no mode', async () => {
    const id = await addNode(api);
    await claimNode(id);
    const refused = await operator('PATCH', `/nodes/${id}`, { region: 'eu-west-1' });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'node_in_use', errors: [{ pointer: '/region' }] },
    });
    expect((await operator<Node>('PATCH', `/nodes/${id}`, { rack: 'r7' })).status).toBe(200);
    expect((await operator('PATCH', `/nodes/${id}`, { mode: 'baremetal' })).status).toBe(400);
  });

  it('refuses a region that does not exist, and tenants', async () => {
    const id = await addNode(api);
    expect(await operator('PATCH', `/nodes/${id}`, { region: 'atlantis' })).toMatchObject({
      body: { code: 'region_unavailable', errors: [{ pointer: '/region' }] },
    });
    expect((await ask(api, 'admin', 'PATCH', `/nodes/${id}`, { pool: 'x' })).status).toBe(403);
  });
});

describe('draining', () => {
  it('stops placement, says why, and resumes', async () => {
    const id = await addNode(api);
    expect(await mayPlace(id)).toBe(true);
    const drained = await operator<Node>('POST', `/nodes/${id}/drain`, { reason: 'Noisy fan' });
    expect(drained.body).toMatchObject({ draining: true, drain_reason: 'Noisy fan' });
    expect(await mayPlace(id)).toBe(false);
    const resumed = await operator<Node>('POST', `/nodes/${id}/resume`);
    expect(resumed.body).toMatchObject({ draining: false, drain_reason: null });
    expect(await mayPlace(id)).toBe(true);
  });
});

describe('a host that was not promoted', () => {
  it('has no mode, cannot be sold, approved or burnt in, and says what to do', async () => {
    const id = await addNode(api, { mode: null });
    expect((await operator<Node>('GET', `/nodes/${id}`)).body).toMatchObject({
      mode: null,
      posture: 'unavailable',
      posture_reason: 'The host has no mode yet; convert it to slices or to bare metal.',
    });
    const approved = await approveAll(api, id, [candidate(0)]);
    expect(approved).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'node_not_in_slice_mode' }] },
    });
    expect(await offerWholeNode(api, id)).toMatchObject({ status: 422 });
    await addReadiness(api, id);
    const burnIn = { result: 'passed', evidence: 'dcgmi diag -r 3' };
    expect((await operator('POST', `/nodes/${id}/burn-ins`, burnIn)).body).toMatchObject({
      code: 'burn_in_not_ready',
      errors: [{ detail: 'the host has no mode; convert it to slices or to baremetal' }],
    });
  });
});

describe('burn-in', () => {
  it('passes only with a discovery and readiness evidence, and opens the host', async () => {
    const id = await addNode(api);
    const record = (result: 'passed' | 'failed') =>
      operator('POST', `/nodes/${id}/burn-ins`, { result, evidence: 'dcgmi diag -r 3' });
    expect((await record('failed')).status).toBe(201);
    expect(await mayPlace(id)).toBe(false);
    expect((await operator<Node>('GET', `/nodes/${id}`)).body).toMatchObject({
      posture: 'unavailable',
      cordons: [{ reason: 'burn_in' }],
    });
    const early = await record('passed');
    expect(early).toMatchObject({ status: 409, body: { code: 'burn_in_not_ready' } });
    expect(early.body['errors']).toHaveLength(2);
    await addDiscovery(api, id, [candidate(0)]);
    await addReadiness(api, id, ['vfio']);
    expect((await record('passed')).body).toMatchObject({ errors: [{ detail: 'vfio: no vfio here' }] });
    expect((await operator('GET', `/nodes/${id}/readiness`)).body).toMatchObject({ state: 'not_ready' });
    await addReadiness(api, id);
    expect((await record('passed')).status).toBe(201);
    expect(await mayPlace(id)).toBe(true);
    const history = await operator<{ items: { result: string }[] }>('GET', `/nodes/${id}/burn-ins`);
    expect(history.body.items.map((item) => item.result)).toEqual(['passed', 'failed']);
  });
});

describe('maintenance', () => {
  const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
  const tick = (now: Date) =>
    watchMaintenance.run(
      { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now } },
      { from: now, to: now },
    );

  it('notifies the tenants on the host, keeps new placements away while it lasts, and ends', async () => {
    const id = await addNode(api);
    const allocationId = await claimNode(id);
    const scheduled = await operator<{ id: string }>('POST', `/nodes/${id}/maintenance-windows`, {
      starts_at: inHours(1),
      ends_at: inHours(2),
      reason: 'New firmware',
    });
    expect(scheduled).toMatchObject({ status: 201, body: { state: 'scheduled', notified_allocations: 1 } });
    const emitted = await api.services.db
      .selectFrom('outbox_events')
      .select(['event_type', 'payload', 'organization_id'])
      .where('subject_id', '=', scheduled.body.id)
      .executeTakeFirstOrThrow();
    expect(emitted).toMatchObject({
      event_type: 'maintenance.scheduled',
      organization_id: api.people['member']!.organizationId,
      payload: { allocation_id: allocationId, reason: 'New firmware' },
    });
    await tick(new Date());
    expect(await mayPlace(id)).toBe(true);
    await tick(new Date(inHours(1.5)));
    expect(await mayPlace(id)).toBe(false);
    await tick(new Date(inHours(3)));
    expect(await mayPlace(id)).toBe(true);
  });

  it('can be called off, also while it lasts', async () => {
    const id = await addNode(api);
    const { body } = await operator<{ id: string }>('POST', `/nodes/${id}/maintenance-windows`, {
      starts_at: inHours(-1),
      ends_at: inHours(1),
      reason: 'Cables',
    });
    expect(await mayPlace(id)).toBe(false);
    const cancel = `/nodes/${id}/maintenance-windows/${body.id}/cancel`;
    expect((await operator('POST', cancel)).body).toMatchObject({ state: 'cancelled' });
    expect(await mayPlace(id)).toBe(true);
  });

  it('refuses windows that cannot be', async () => {
    const id = await addNode(api);
    const window = { starts_at: inHours(-1), ends_at: inHours(-2), reason: 'Yesterday' };
    const refused = await operator('POST', `/nodes/${id}/maintenance-windows`, window);
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'ends_before_start' }, { code: 'in_the_past' }] },
    });
  });
});

describe('node tasks', () => {
  it('are found by node, kind and state, and shown whole with secrets masked', async () => {
    const { db } = api.services;
    const id = await addNode(api);
    const done = await addDiscovery(api, id, [candidate(0)]);
    const allocationId = newId();
    const task = (state: 'claimed' | 'queued', expires: number) => ({
      id: newId(),
      node_id: id,
      subject_type: 'allocation',
      subject_id: allocationId,
      kind: 'slice.vm_release',
      params: JSON.stringify({ password: 'hunter2' }),
      state,
      correlation_id: newId(),
      expires_at: new Date(Date.now() + expires),
    });
    const [late, waiting] = [task('claimed', -1000), task('queued', 60_000)];
    await db.insertInto('node_tasks').values([late, waiting]).execute();
    const idsWhere = async (query: string): Promise<string[]> => {
      const { body } = await operator<{ items: { id: string }[] }>('GET', `/tasks?node_id=${id}&${query}`);
      return body.items.map((item) => item.id);
    };
    expect(await idsWhere('state=succeeded')).toEqual([done]);
    expect(await idsWhere('state=expired')).toEqual([late.id]);
    expect(await idsWhere('state=claimed')).toEqual([]);
    expect(await idsWhere('kind=slice.vm_release&limit=1')).toEqual([waiting.id]);
    expect(await idsWhere(`subject_type=allocation&subject_id=${allocationId}`)).toEqual([
      waiting.id,
      late.id,
    ]);
    expect(await idsWhere('subject_type=node')).toEqual([done]);
    const detail = await operator('GET', `/tasks/${waiting.id}`);
    expect(detail.body).toMatchObject({
      task: { state: 'queued', subject: { type: 'allocation', id: allocationId } },
      output: null,
    });
    expect(JSON.stringify(detail.body)).not.toContain('hunter2');
    expect((await operator('GET', `/tasks/${newId()}`)).status).toBe(404);
  });
});
