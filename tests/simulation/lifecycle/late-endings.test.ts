import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { keepWorkers } from './keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from './lifecycle-world.ts';

const WAIT = 150_000;
const POLICIES = {
  'allocations.wipe_deadline_seconds': 4,
  'allocations.wipe_attempts': 2,
  'allocations.provision_attempts': 1,
};

/** The worker dies after the effect of the step and before its checkpoint, and no other continues for now. */
async function dieAt(step: string, world: LifecycleWorld, reach: () => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-late-'));
  const marker = join(folder, 'happened');
  const workers = keepWorkers(1, {
    ...world.env,
    GPUAAS_CRASH_AT: `${step}:after`,
    GPUAAS_CRASH_MARKER: marker,
  });
  try {
    await reach();
    const happened = async () => (await readFile(marker, 'utf8').catch(() => '')).includes(step) || null;
    // `expect.poll` cannot attribute itself to one of several concurrent tests.
    await eventually(`the death at ${step}`, happened, WAIT);
  } finally {
    await workers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Asked for again at that moment; the host loses the first request, so that the late ending comes in between. */
async function askAgain(world: LifecycleWorld, id: string): Promise<void> {
  world.hosts.calm();
  world.hosts.mood(id, 'slice.vm_release', 'silent', 1);
  expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
}

/** With workers again it ends so, and holds nothing. */
async function expectCleanEnd(
  world: LifecycleWorld,
  id: string,
  state: 'failed' | 'released',
): Promise<void> {
  const workers = keepWorkers(1, world.env);
  try {
    await world.waitFor([id], [state], WAIT);
    expect(await slotsHeldBy(world, id)).toBe(0);
  } finally {
    await workers.stop();
  }
}

it.concurrent('a cleanup that was asked for again is not ended by the late word of the one before', async () => {
  const world = await openLifecycleWorld({ nodes: 1, policies: POLICIES });
  try {
    const id = await world.launch();
    world.hosts.mood(id, 'slice.vm_provision', 'fails');
    world.hosts.mood(id, 'slice.vm_release', 'dirty');
    await dieAt('provision.cleaned', world, () => world.waitFor([id], ['failed'], WAIT));
    await askAgain(world, id);
    await expectCleanEnd(world, id, 'failed');
  } finally {
    await world.stop();
  }
}, 600_000);

it.concurrent('a release that was asked for again is not failed by the late word of the one before', async () => {
  const world = await openLifecycleWorld({ nodes: 1, policies: POLICIES });
  try {
    const id = await world.launch();
    world.hosts.mood(id, 'slice.vm_release', 'dirty');
    await dieAt('release.end', world, async () => {
      await world.waitFor([id], ['active'], WAIT);
      expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
      await world.waitFor([id], ['release_failed'], WAIT);
    });
    await askAgain(world, id);
    await expectCleanEnd(world, id, 'released');
  } finally {
    await world.stop();
  }
}, 600_000);

it.concurrent('a host that a person vouched for is not quarantined by a late word', async () => {
  const world = await openLifecycleWorld({ nodes: 1, policies: POLICIES });
  try {
    const { db } = world.api.services;
    const id = await world.leaseHost(world.nodeIds[0]!);
    world.hosts.mood(id, 'allocation.deprovision_user', 'dirty');
    await dieAt('release.wipe.blocked', world, async () => {
      await world.waitFor([id], ['active'], WAIT);
      expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
    });
    const ended = await world.post('operator', `/admin/allocations/${id}/force-release`, { reason: 'late' });
    expect(ended).toBe(200);
    const proof = { method: 'redeployed', evidence: 'deployment 4711' };
    expect(await world.post('operator', `/admin/allocations/${id}/record-host-cleanup`, proof)).toBe(200);
    const blocked = () =>
      db
        .selectFrom('incidents')
        .select('summary')
        .where('type', '=', 'host_cleanup_blocked')
        .where('resolved_at', 'is', null)
        .execute();
    expect(await blocked()).toEqual([]);
    const workers = keepWorkers(1, world.env);
    try {
      const underWay = sql`select from dbos.workflow_status where status = 'PENDING'`;
      const begun = sql`select from dbos.operation_outputs where function_name = 'release.wipe.blocked'`;
      const seen = async () => (await begun.execute(db)).rows.length === 1 || null;
      await eventually('the late step', seen, WAIT);
      const over = async () => (await underWay.execute(db)).rows.length === 0 || null;
      await eventually('its workflow to end', over, WAIT);
    } finally {
      await workers.stop();
    }
    expect(await blocked()).toEqual([]);
  } finally {
    await world.stop();
  }
}, 600_000);

async function slotsHeldBy(world: LifecycleWorld, allocationId: string): Promise<number> {
  const held = await world.api.services.db
    .selectFrom('allocation_resource_claims')
    .select('id')
    .where('allocation_id', '=', allocationId)
    .where('released_at', 'is', null)
    .execute();
  return held.length;
}
