import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import { eventually } from '../../harness/eventually.ts';
import { keepWorkers, type Workers } from './keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from './lifecycle-world.ts';
import { advanceTime, openIncidentsIn, reconcileNow, slotStatesOf } from './world-state.ts';

const WAIT = 90_000;
let world: LifecycleWorld;
let workers: Workers;
beforeAll(async () => {
  world = await openLifecycleWorld({
    nodes: 3,
    policies: { 'allocations.wipe_attempts': 1, 'allocations.provision_attempts': 2 },
  });
  workers = keepWorkers(1, world.env);
}, 180_000);
afterAll(async () => {
  await workers?.stop();
  await world?.stop();
});

const db = () => world.api.services.db;

async function nodeOf(allocationId: string): Promise<string> {
  const row = await db()
    .selectFrom('allocations')
    .select('node_id')
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  return row.node_id!;
}

async function timeline(allocationId: string): Promise<string[]> {
  const rows = await db()
    .selectFrom('outbox_events')
    .select('payload')
    .where('subject_id', '=', allocationId)
    .where('event_type', 'in', ['allocation.host_silent', 'allocation.host_returned'])
    .orderBy('position')
    .execute();
  return rows.map((row) => (row.payload as { message: string }).message);
}

const openIncidents = (type: IncidentType) => openIncidentsIn(world, type);
const reconcile = (change?: Record<string, number>) => reconcileNow(world, change);
const slotStates = (nodeId: string) => slotStatesOf(world, nodeId);

/** The host is cut off, and its last heartbeat is as old as needed to be unreachable. */
async function cut(nodeId: string): Promise<void> {
  world.hosts.host(nodeId).cut = true;
  await db()
    .updateTable('nodes')
    .set({ last_heartbeat_at: new Date(Date.now() - 120_000) })
    .where('id', '=', nodeId)
    .execute();
}

async function mend(nodeId: string): Promise<void> {
  world.hosts.host(nodeId).cut = false;
  await world.hosts.beatOnce();
}

async function active(): Promise<string> {
  const id = await world.launch();
  await world.waitFor([id], ['active'], WAIT);
  await world.hosts.beatOnce();
  return id;
}

describe('a lease of a whole host', () => {
  it('is delivered to an unprivileged user and ends with proof', async () => {
    const nodeId = world.nodeIds[2]!;
    const id = await world.leaseHost(nodeId);
    await world.waitFor([id], ['active'], WAIT);
    expect(await slotStates(nodeId)).toEqual(['in_use']);
    expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
    await world.waitFor([id], ['released'], WAIT);
    expect(await slotStates(nodeId)).toEqual(['available']);
    const proofs = await db()
      .selectFrom('host_cleanups')
      .select('verified')
      .where('allocation_id', '=', id)
      .execute();
    expect(proofs).toEqual([{ verified: true }]);
  }, 240_000);

  it('keeps the host claimed until its cleanup is proven, by a retry or by a witness', async () => {
    const nodeId = world.nodeIds[2]!;
    for (const wayOut of ['retry', 'witness'] as const) {
      const id = await world.leaseHost(nodeId);
      await world.waitFor([id], ['active'], WAIT);
      world.hosts.mood(id, 'allocation.deprovision_user', 'dirty');
      await world.post('member', `/allocations/${id}/release`);
      await world.waitFor([id], ['release_failed'], WAIT);
      expect(await slotStates(nodeId)).toEqual(['cleanup_blocked']);
      expect(await openIncidents('host_cleanup_blocked')).toEqual([nodeId]);
      await expect(
        db()
          .updateTable('allocation_resource_claims')
          .set({ released_at: new Date() })
          .where('allocation_id', '=', id)
          .execute(),
      ).rejects.toThrow('no verified cleanup');
      world.hosts.calm();
      if (wayOut === 'retry') {
        expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
      } else {
        const body = { method: 'redeployed', evidence: 'deployment 4711' };
        expect(await world.post('operator', `/admin/allocations/${id}/record-host-cleanup`, body)).toBe(200);
        world.hosts.host(nodeId).hostLease = null;
        world.hosts.host(nodeId).dirty.clear();
      }
      await world.waitFor([id], ['released'], WAIT);
      expect(await slotStates(nodeId)).toEqual(['available']);
      expect(await openIncidents('host_cleanup_blocked')).toEqual([]);
    }
  }, 300_000);
});

describe('a host that falls silent', () => {
  it('is reported to the tenant, and its evidence decides: served, restarted, lost', async () => {
    const id = await active();
    const nodeId = await nodeOf(id);
    const host = world.hosts.host(nodeId);

    await cut(nodeId);
    await reconcile();
    await reconcile();
    expect((await world.stateOf(id)).state).toBe('active');
    await mend(nodeId);
    await reconcile();
    expect(await timeline(id)).toEqual([
      expect.stringContaining('has been unreachable since'),
      expect.stringContaining('your machine kept running'),
    ]);

    await cut(nodeId);
    await reconcile();
    host.reboot();
    await mend(nodeId);
    await reconcile();
    expect((await timeline(id)).at(-1)).toContain('was restarted');

    await cut(nodeId);
    await reconcile();
    const startedAt = host.vms.get(id)!;
    host.vms.delete(id);
    await mend(nodeId);
    await reconcile();
    expect((await timeline(id)).at(-1)).toContain('is not running');
    await db().updateTable('allocations').set({ observed_state: 'absent' }).where('id', '=', id).execute();
    await reconcile();
    expect(await openIncidents('allocation_machine_lost')).toEqual([id]);
    host.vms.set(id, startedAt);
    await world.post('member', `/allocations/${id}/release`);
    await world.waitFor([id], ['released'], WAIT);
    await reconcile();
    expect(await openIncidents('allocation_machine_lost')).toEqual([]);
  }, 240_000);
});

describe('a machine that does not run on a host that answers', () => {
  /** Its lease has lasted long enough for the host's word to count. */
  async function settled(id: string): Promise<void> {
    await db()
      .updateTable('allocations')
      .set({ active_at: new Date(Date.now() - 60_000) })
      .where('id', '=', id)
      .execute();
  }

  it('is reported once, as shut down or gone, and again when it runs', async () => {
    const id = await active();
    await settled(id);
    const host = world.hosts.host(await nodeOf(id));
    const look = async (): Promise<void> => {
      await world.hosts.beatOnce();
      await reconcile();
      await reconcile();
    };
    await look();
    expect(await timeline(id)).toEqual([]);

    host.shutDown.add(id);
    await look();
    const startedAt = host.vms.get(id)!;
    host.vms.delete(id);
    await look();
    host.vms.set(id, startedAt);
    host.shutDown.delete(id);
    await look();
    expect(await timeline(id)).toEqual([
      expect.stringMatching(/is shut down.* and is billed/),
      expect.stringMatching(/is not running on its host\. You are not billed/),
      expect.stringContaining('is running on its host again'),
    ]);
    await world.post('member', `/allocations/${id}/release`);
    await world.waitFor([id], ['released'], WAIT);
  }, 240_000);
});

describe('force-release', () => {
  it('ends an allocation without its host, and quarantines what it held until an operator has it wiped', async () => {
    const id = await active();
    const nodeId = await nodeOf(id);
    await cut(nodeId);
    const path = `/admin/allocations/${id}/force-release`;
    expect(await world.post('member', path, { reason: 'mine' })).toBe(403);
    expect(await world.post('operator', path, { reason: 'the host burnt down' })).toBe(200);
    expect(await world.post('operator', path, { reason: 'again' })).toBe(409);
    const row = await db()
      .selectFrom('allocations')
      .select(['state', 'execution_state', 'release_requested_at', 'failure'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      state: 'released',
      execution_state: 'idle',
      release_requested_at: expect.any(Date),
      failure: { code: 'force_released' },
    });
    expect(await slotStates(nodeId)).toContain('cleanup_blocked');

    await mend(nodeId);
    // No timer leads out of the quarantine, however long it lasts.
    await advanceTime(world, id);
    await reconcile();
    expect((await world.stateOf(id)).execution_state).toBe('idle');
    expect(await slotStates(nodeId)).toContain('cleanup_blocked');
    expect(world.hosts.host(nodeId).leftovers().join()).toContain(id);
    expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
    await eventually('the slot to be given back', async () =>
      (await slotStates(nodeId)).includes('cleanup_blocked') ? null : true,
    );
    expect(world.hosts.host(nodeId).leftovers().join()).not.toContain(id);
  }, 240_000);

  it('withdraws a launch that its host never answers; nothing waits for it', async () => {
    for (const nodeId of world.nodeIds) world.hosts.host(nodeId).cut = true;
    const id = await world.launch();
    await eventually('the task', async () =>
      db()
        .selectFrom('node_tasks')
        .select('id')
        .where('allocation_id', '=', id)
        .where('state', '=', 'queued')
        .executeTakeFirst(),
    );
    const path = `/admin/allocations/${id}/force-release`;
    expect(await world.post('operator', path, { reason: 'no answer' })).toBe(200);
    expect(await world.stateOf(id)).toEqual({ state: 'failed', execution_state: 'idle' });
    const open = await db()
      .selectFrom('node_tasks')
      .select('state')
      .where('allocation_id', '=', id)
      .execute();
    expect(open).toEqual([{ state: 'expired' }]);
    for (const nodeId of world.nodeIds) await mend(nodeId);
  }, 240_000);
});

describe('a release that has failed', () => {
  it('is tried again by the tenant, and works once the host can prove its wipe', async () => {
    const id = await active();
    const retry = `/allocations/${id}/retry-release`;
    expect(await world.post('member', retry)).toBe(409);
    world.hosts.mood(id, 'slice.vm_release', 'dirty');
    await world.post('member', `/allocations/${id}/release`);
    await world.waitFor([id], ['release_failed'], WAIT);
    expect(await openIncidents('allocation_release_failed')).toContain(id);
    expect(await slotHealth(id)).toEqual(['unhealthy: Wipe not verified: data was left']);
    expect(await world.post('other', retry)).toBe(404);
    world.hosts.calm();
    expect(await world.post('member', retry)).toBe(202);
    await world.waitFor([id], ['released'], WAIT);
    expect(await openIncidents('allocation_release_failed')).toEqual([]);
    expect(await slotHealth(id)).toEqual(['healthy: Wiped by blkdiscard and verified.']);
    expect(await world.post('member', retry)).toBe(409);
  }, 240_000);

  async function slotHealth(allocationId: string): Promise<string[]> {
    const rows = await db()
      .selectFrom('node_resource_slots as s')
      .innerJoin('allocation_resource_claims as c', 'c.slot_id', 's.id')
      .select(['s.health_state', 's.health_detail'])
      .where('c.allocation_id', '=', allocationId)
      .execute();
    return rows.map((row) => `${row.health_state}: ${row.health_detail}`);
  }
});

describe('drift', () => {
  it('of hosts and slots becomes an incident, and goes with its cause', async () => {
    const [nodeId] = world.nodeIds;
    const host = world.hosts.host(nodeId!);
    const ghost = '019a8000-0000-7000-8000-00000000dead';
    host.vms.set(ghost, new Date().toISOString());
    await world.hosts.beatOnce();
    await reconcile();
    expect(await openIncidents('node_orphans')).toEqual([nodeId]);
    host.vms.delete(ghost);
    await world.hosts.beatOnce();
    await reconcile();
    expect(await openIncidents('node_orphans')).toEqual([]);

    const slot = await db()
      .selectFrom('node_resource_slots')
      .select('id')
      .where('node_id', '=', nodeId!)
      .where('state', '=', 'available')
      .executeTakeFirstOrThrow();
    const move = (state: 'available' | 'in_use') =>
      db().updateTable('node_resource_slots').set({ state }).where('id', '=', slot.id).execute();
    await move('in_use');
    await reconcile();
    expect(await openIncidents('slot_drift')).toEqual([slot.id]);
    await move('available');
    await reconcile();
    expect(await openIncidents('slot_drift')).toEqual([]);
  });

  it('of an allocation whose workflow is gone is repaired', async () => {
    const id = await active();
    await db().updateTable('allocations').set({ state: 'provisioning' }).where('id', '=', id).execute();
    await advanceTime(world, id);
    await reconcile();
    await world.waitFor([id], ['failed'], WAIT);
  }, 240_000);

  it('of a cleanup whose workflow is gone is repaired: it is restarted', async () => {
    const id = await active();
    await world.post('operator', `/admin/allocations/${id}/force-release`, { reason: 'to be cleaned' });
    await db()
      .updateTable('allocations')
      .set({ execution_state: 'cleaning_up' })
      .where('id', '=', id)
      .execute();
    await advanceTime(world, id);
    await reconcile();
    await eventually('its slot to be proven clean', async () => {
      const held = await db()
        .selectFrom('allocation_resource_claims')
        .select('id')
        .where('allocation_id', '=', id)
        .where('released_at', 'is', null)
        .execute();
      return held.length === 0 ? true : null;
    });
    await world.waitFor([id], ['released'], WAIT);
  }, 240_000);

  it('leaves nothing behind in the end', async () => {
    await world.expectCleanEnd(120_000);
  }, 240_000);
});
