import { expect } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { ask } from '../harness/fleet.ts';
import { keepWorkers } from './keep-workers.ts';
import type { LifecycleWorld } from './lifecycle-world.ts';

/** How one run of a workflow per step is brought about, and what the world is like when all have ended. */
export interface Scene {
  hostsFor(runs: number): number;
  /** Brings every subject to where the workflow begins and asks for it. Returns the workflow ids, in order. */
  begin(world: LifecycleWorld, steps: readonly string[], timeoutMs: number): Promise<string[]>;
  ended(world: LifecycleWorld, timeoutMs: number): Promise<void>;
}

/** By the name of the workflow. A new workflow needs a scene, a new step of one that is here needs nothing. */
export const scenes: Record<string, Scene> = {
  'allocation.provision': {
    hostsFor: slotEach,
    async begin(world, steps) {
      const ids: string[] = [];
      for (const step of steps) {
        const id = await world.launch();
        setMoods(world, id, step);
        ids.push(id);
      }
      return ids.map((id) => `provision:${id}`);
    },
    ended: allocationsIn('active', 'failed'),
  },
  'allocation.release': {
    hostsFor: slotEach,
    async begin(world, steps, timeoutMs) {
      const ids = await launchAll(world, steps);
      await undisturbed(world, () => world.waitFor(ids, ['active'], timeoutMs));
      for (const [index, id] of ids.entries()) {
        setMoods(world, id, steps[index]!);
        expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
      }
      return ids.map((id) => `release:${id}:1`);
    },
    ended: allocationsIn('released', 'release_failed'),
  },
  'allocation.cleanup': {
    hostsFor: slotEach,
    async begin(world, steps, timeoutMs) {
      const ids = await launchAll(world, steps);
      for (const id of ids) {
        world.hosts.mood(id, 'slice.vm_provision', 'fails');
        world.hosts.mood(id, 'slice.vm_release', 'dirty');
      }
      await undisturbed(world, () => world.waitFor(ids, ['failed'], timeoutMs));
      world.hosts.calm();
      return await Promise.all(
        ids.map(async (id, index) => {
          setMoods(world, id, steps[index]!);
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
    ended: allocationsIn('failed'),
  },
  'node.convert': {
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
        setMoods(world, nodeId, step);
        ids.push(await convert(world, nodeId, isBack(step) ? 'slice' : 'baremetal'));
      }
      return ids.map((id) => `convert:${id}`);
    },
    async ended(world, timeoutMs) {
      await conversionsEnd(world, timeoutMs);
      await repairHosts(world, timeoutMs);
    },
  },
};

function slotEach(runs: number): number {
  return Math.ceil(runs / 8);
}

function allocationsIn(...states: string[]): Scene['ended'] {
  return async (world, timeoutMs) => {
    const rows = await world.api.services.db.selectFrom('allocations').select('id').execute();
    await world.waitFor(
      rows.map(({ id }) => id),
      states,
      timeoutMs,
    );
  };
}

async function launchAll(world: LifecycleWorld, steps: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const _ of steps) ids.push(await world.launch());
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

/** How the host must behave for the step to be reached. Whatever is new is looked for on the good way first. */
function setMoods({ hosts }: LifecycleWorld, subject: string, step: string): void {
  if (/^provision\.(fail|wipe|cleaned)/.test(step)) hosts.mood(subject, 'slice.vm_provision', 'fails');
  if (step === 'provision.expire') hosts.mood(subject, 'slice.vm_provision', 'silent', 1);
  if (step.endsWith('.wipe.expire')) hosts.mood(subject, 'slice.vm_release', 'silent', 1);
  if (step.endsWith('.wipe.blocked')) hosts.mood(subject, 'slice.vm_release', 'dirty');
  if (step.startsWith('convert.undo')) hosts.mood(subject, 'node.set_mode', 'fails', 1);
  if (/^convert\.(bind|undo)\.expire$/.test(step)) hosts.mood(subject, 'node.set_mode', 'silent', 1);
  if (step === 'convert.check.expire') hosts.mood(subject, 'slice.prereq_check', 'silent', 1);
  if (step === 'convert.discover.expire') hosts.mood(subject, 'slice.topology_discover', 'silent', 1);
}
