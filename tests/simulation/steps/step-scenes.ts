import type { TaskKind } from '@gpuaas/contracts/tasks';
import { expect } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { ask } from '../../harness/fleet/fleet.ts';
import { keepWorkers } from '../lifecycle/keep-workers.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import { appStartScene, appStopScene } from './app-scenes.ts';
import { onboardingScene } from './onboarding-scene.ts';
import { rootedHost } from './rooted-host.ts';

/** How to cause one run of a workflow per step, and the expected state when all have ended. */
export interface Scenario {
  workflow: string;
  hostsFor(runs: number): number;
  withMaas?: boolean;
  /** Instead of the deadlines that all scenes share. */
  policies?: Record<string, number | boolean>;
  /** Where another scene of the workflow is for the other steps. */
  tries?(step: string): boolean;
  /** Brings every subject to where the workflow begins and asks for it. Returns the workflow ids, in order. */
  begin(world: LifecycleWorld, steps: readonly string[], timeoutMs: number): Promise<string[]>;
  ended(world: LifecycleWorld, timeoutMs: number): Promise<void>;
}

/** Leases for testing the workflows of allocations. */
export interface Lease extends Pick<Scenario, 'withMaas' | 'policies'> {
  hostsFor(runs: number): number;
  /** Adds hosts that the world does not have by default. */
  prepare?(world: LifecycleWorld, runs: number, timeoutMs: number): Promise<void>;
  take(world: LifecycleWorld, index: number): Promise<string>;
  provision: TaskKind;
  release: TaskKind;
  /** Makes the cleanup of the lease's slots fail, until `mend`. */
  spoil?(world: LifecycleWorld, index: number): void;
  mend?(world: LifecycleWorld): void;
  /** Where more than the allocations has to come to an end. */
  ended?(world: LifecycleWorld, timeoutMs: number): Promise<void>;
}

const slice: Lease = {
  hostsFor: (runs) => Math.ceil(runs / 8),
  take: (world) => world.launch(),
  provision: 'slice.vm_provision',
  release: 'slice.vm_release',
};
const wholeHost: Lease = {
  hostsFor: (runs) => runs,
  take: (world, index) => world.leaseHost(world.nodeIds[index]!),
  provision: 'allocation.provision_user',
  release: 'allocation.deprovision_user',
};

/** By name. A new workflow needs a scene, a new step of one that is here needs nothing. */
export const scenarios: Record<string, Scenario> = {
  'allocation.provision': provisionOf(slice),
  'allocation.provision of a whole host': provisionOf(wholeHost),
  'allocation.release': releaseOf(slice),
  'allocation.release of a whole host': releaseOf(wholeHost),
  'allocation.cleanup': cleanupOf(slice),
  'allocation.cleanup of a whole host': cleanupOf(wholeHost),
  'allocation.provision with root of a whole host': provisionOf(rootedHost),
  'allocation.release with root of a whole host': releaseOf(rootedHost),
  'allocation.cleanup with root of a whole host': cleanupOf(rootedHost),
  'node.convert': {
    workflow: 'node.convert',
    hostsFor: (runs) => runs,
    async begin(world, steps, timeoutMs) {
      // Only the way back to slices checks the host.
      const isBack = (step: string): boolean => step.startsWith('convert.check');
      await undisturbed(world, async () => {
        for (const [index, step] of steps.entries())
          if (isBack(step)) await convert(world, world.nodeIds[index]!, 'baremetal');
        await conversionsEnd(world, timeoutMs);
      });
      const ids: string[] = [];
      for (const [index, step] of steps.entries()) {
        const nodeId = world.nodeIds[index]!;
        setHostMoods(world, nodeId, step);
        ids.push(await convert(world, nodeId, isBack(step) ? 'slice' : 'baremetal'));
      }
      return ids.map((id) => `convert:${id}`);
    },
    async ended(world, timeoutMs) {
      await conversionsEnd(world, timeoutMs);
      await repairHosts(world, timeoutMs);
    },
  },
  'node.onboard': onboardingScene,
  'app_instance.start': appStartScene,
  'app_instance.stop': appStopScene,
};

export function isOfWholeHost(scene: string): boolean {
  return scene.endsWith('of a whole host');
}

/** Hosts are erased only after tenants with root, and such tenants' hosts are cleaned in no other way. */
function sceneOf(lease: Lease): Pick<Scenario, 'hostsFor' | 'withMaas' | 'policies' | 'tries'> {
  const { hostsFor, withMaas = false, policies = {} } = lease;
  return { hostsFor, withMaas, policies, tries: (step) => step.includes('.erase.') === withMaas };
}

function provisionOf(lease: Lease): Scenario {
  return {
    workflow: 'allocation.provision',
    ...sceneOf(lease),
    async begin(world, steps, timeoutMs) {
      await prepared(world, lease, steps, timeoutMs);
      const ids = await takeAll(world, lease, steps);
      for (const [index, id] of ids.entries()) setLeaseMoods(world, lease, id, steps[index]!);
      return ids.map((id) => `provision:${id}`);
    },
    ended: allocationsIn(lease, 'active', 'failed'),
  };
}

function releaseOf(lease: Lease): Scenario {
  return {
    workflow: 'allocation.release',
    ...sceneOf(lease),
    async begin(world, steps, timeoutMs) {
      await prepared(world, lease, steps, timeoutMs);
      const ids = await takeAll(world, lease, steps);
      await undisturbed(world, () => world.waitFor(ids, ['active'], timeoutMs));
      for (const [index, id] of ids.entries()) {
        setLeaseMoods(world, lease, id, steps[index]!);
        expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
      }
      return ids.map((id) => `release:${id}:1`);
    },
    ended: allocationsIn(lease, 'released', 'release_failed'),
  };
}

function cleanupOf(lease: Lease): Scenario {
  return {
    workflow: 'allocation.cleanup',
    ...sceneOf(lease),
    async begin(world, steps, timeoutMs) {
      await prepared(world, lease, steps, timeoutMs);
      const ids = await takeAll(world, lease, steps);
      for (const [index, id] of ids.entries()) {
        world.hosts.mood(id, lease.provision, 'fails');
        world.hosts.mood(id, lease.release, 'dirty');
        lease.spoil?.(world, index);
      }
      await undisturbed(world, () => world.waitFor(ids, ['failed'], timeoutMs));
      world.hosts.calm();
      lease.mend?.(world);
      return await Promise.all(
        ids.map(async (id, index) => {
          setLeaseMoods(world, lease, id, steps[index]!);
          expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
          const start = await world.api.services.db
            .selectFrom('workflow_starts')
            .select('workflow_id')
            .where('workflow_id', 'like', `cleanup:${id}:%`)
            .executeTakeFirstOrThrow();
          return start.workflow_id;
        }),
      );
    },
    ended: allocationsIn(lease, 'failed'),
  };
}

function allocationsIn(lease: Lease, ...states: string[]): Scenario['ended'] {
  return async (world, timeoutMs) => {
    const rows = await world.api.services.db.selectFrom('allocations').select('id').execute();
    await world.waitFor(
      rows.map(({ id }) => id),
      states,
      timeoutMs,
    );
    await lease.ended?.(world, timeoutMs);
  };
}

async function prepared(
  world: LifecycleWorld,
  { prepare }: Lease,
  steps: readonly string[],
  timeoutMs: number,
): Promise<void> {
  if (prepare) await undisturbed(world, () => prepare(world, steps.length, timeoutMs));
}

async function takeAll(world: LifecycleWorld, lease: Lease, steps: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const index of steps.keys()) ids.push(await lease.take(world, index));
  return ids;
}

/** With a worker that nothing happens to, which is gone before the trials. */
async function undisturbed(world: LifecycleWorld, until: () => Promise<void>): Promise<void> {
  const workers = keepWorkers(1, world.env);
  try {
    await until();
  } finally {
    await workers.stop();
  }
}

async function convert(world: LifecycleWorld, nodeId: string, mode: string): Promise<string> {
  const body = { mode, reason: 'step matrix' };
  const answer = await ask<{ id: string }>(world.api, 'operator', 'POST', `/nodes/${nodeId}/convert`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
}

async function conversionsEnd({ api }: LifecycleWorld, timeoutMs: number): Promise<void> {
  await eventually(
    'conversions to end',
    async () => {
      const running = await api.services.db
        .selectFrom('node_conversions')
        .select('id')
        .where('state', '=', 'running')
        .execute();
      return running.length === 0 ? true : null;
    },
    timeoutMs,
  );
}

/** A host that could be brought nowhere is cordoned, with an incident, until it is converted again. */
async function repairHosts(world: LifecycleWorld, timeoutMs: number): Promise<void> {
  const { db } = world.api.services;
  const cordoned = async (): Promise<string[]> =>
    (await db.selectFrom('node_cordons').select('node_id').where('reason', '=', 'conversion').execute())
      .map(({ node_id }) => node_id)
      .toSorted();
  const reported = async (): Promise<string[]> =>
    (
      await db
        .selectFrom('incidents')
        .select('target_id')
        .where('type', '=', 'node_conversion_failed')
        .where('resolved_at', 'is', null)
        .execute()
    )
      .map(({ target_id }) => target_id)
      .toSorted();
  const stuck = await cordoned();
  expect(await reported()).toEqual(stuck);
  world.hosts.calm();
  for (const nodeId of stuck) await convert(world, nodeId, 'slice');
  await conversionsEnd(world, timeoutMs);
  expect([await cordoned(), await reported()]).toEqual([[], []]);
  const nodes = await db.selectFrom('nodes').select(['id', 'mode']).execute();
  for (const { id, mode } of nodes) expect(world.hosts.host(id).mode, id).toBe(mode);
}

/** Behaviour of the host for the step to be reached. A new step is searched on the success path first. */
function setLeaseMoods({ hosts }: LifecycleWorld, lease: Lease, allocationId: string, step: string): void {
  if (/^provision\.(fail|wipe|erase|cleaned)/.test(step)) hosts.mood(allocationId, lease.provision, 'fails');
  if (step === 'provision.expire') hosts.mood(allocationId, lease.provision, 'silent', 1);
  if (step.endsWith('.wipe.expire')) hosts.mood(allocationId, lease.release, 'silent', 1);
  if (step.endsWith('.wipe.blocked')) hosts.mood(allocationId, lease.release, 'dirty');
}

function setHostMoods({ hosts }: LifecycleWorld, nodeId: string, step: string): void {
  if (step.startsWith('convert.undo')) hosts.mood(nodeId, 'node.set_mode', 'fails', 1);
  if (/^convert\.(bind|undo)\.expire$/.test(step)) hosts.mood(nodeId, 'node.set_mode', 'silent', 1);
  if (step === 'convert.check.expire') hosts.mood(nodeId, 'slice.prereq_check', 'silent', 1);
  if (step === 'convert.discover.expire') hosts.mood(nodeId, 'slice.topology_discover', 'silent', 1);
}
