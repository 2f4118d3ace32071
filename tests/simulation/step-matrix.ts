import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { workflowDefinitions } from '@gpuaas/control-plane/roles/workflow-definitions';
import { keepWorkers } from './keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from './lifecycle-world.ts';

type Prefix = 'provision' | 'release' | 'cleanup';

/** What happens to a step once: killed before, inside and after it, failed after its effect, run twice. */
export const TRIALS = ['before', 'after', 'checkpointed', 'fail', 'twice'] as const;
export type Trial = (typeof TRIALS)[number];
export interface Case {
  step: string;
  trial: Trial;
}

/** Every trial of every step that the definition of a workflow names. */
export function casesOf(prefix: Prefix): Case[] {
  const definition = workflowDefinitions.find(({ name }) => name === `allocation.${prefix}`)!;
  return definition.steps.flatMap((step) => TRIALS.map((trial) => ({ step, trial })));
}

const ENDS: Record<Prefix, string[]> = {
  provision: ['active', 'failed'],
  release: ['released', 'release_failed'],
  cleanup: ['failed'],
};

// Deadlines are short so that a silent host is given up on while somebody waits for the test.
const POLICIES = {
  'allocations.provision_deadline_seconds': 4,
  'allocations.wipe_deadline_seconds': 4,
  'allocations.wipe_attempts': 2,
  'allocations.provision_attempts': 2,
  'allocations.stop_timeout_seconds': 0,
};

/** One allocation per case; each case happens once, each place is reached, and nothing is left at the end. */
export async function proveSteps(prefix: Prefix, cases: readonly Case[], timeoutMs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-steps-'));
  const marker = join(folder, 'happened');
  const world = await openLifecycleWorld({ nodes: Math.ceil(cases.length / 8), policies: POLICIES });
  const stops: (() => Promise<void>)[] = [];
  try {
    const ids: string[] = [];
    for (const { step } of cases) {
      const id = await world.launch();
      if (prefix === 'provision') setMoods(world, id, step);
      ids.push(id);
    }
    const workflowIds = await bringBefore(world, prefix, ids, timeoutMs);
    if (prefix !== 'provision')
      for (const [index, { step }] of cases.entries()) setMoods(world, ids[index]!, step);
    const places = cases.map(({ step, trial }, index) => ({ trial, place: `${workflowIds[index]}/${step}` }));
    const listed = (trials: readonly Trial[]): string =>
      places
        .filter(({ trial }) => trials.includes(trial))
        .map(({ trial, place }) => (trial === 'fail' || trial === 'twice' ? place : `${place}:${trial}`))
        .join(',');
    const workers = keepWorkers(2, {
      ...world.env,
      GPUAAS_CRASH_AT: listed(['before', 'after', 'checkpointed']),
      GPUAAS_FAIL_AT: listed(['fail']),
      GPUAAS_TWICE_AT: listed(['twice']),
      GPUAAS_CRASH_MARKER: marker,
    });
    stops.push(() => workers.stop());
    const happened = async (): Promise<string[]> =>
      (await readFile(marker, 'utf8').catch(() => '')).trim().split('\n').toSorted();
    const expected = listed([...TRIALS])
      .split(',')
      .toSorted();
    await expect.poll(happened, { timeout: timeoutMs, interval: 500 }).toEqual(expected);
    await world.waitFor(ids, ENDS[prefix], timeoutMs);
    expect(await happened()).toEqual(expected);
    await world.expectCleanEnd(timeoutMs);
  } finally {
    for (const stop of stops) await stop();
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** How the host must behave for the step to be reached. Whatever is new is looked for on the good way first. */
function setMoods({ hosts }: LifecycleWorld, id: string, step: string): void {
  if (/^provision\.(fail|wipe|cleaned)/.test(step)) hosts.mood(id, 'slice.vm_provision', 'fails');
  if (step === 'provision.expire') hosts.mood(id, 'slice.vm_provision', 'silent', 1);
  if (step.endsWith('.wipe.expire')) hosts.mood(id, 'slice.vm_release', 'silent', 1);
  if (step.endsWith('.wipe.blocked')) hosts.mood(id, 'slice.vm_release', 'dirty', 2);
}

/** Brings every allocation to where the workflow begins, with workers that nothing happens to. */
async function bringBefore(
  world: LifecycleWorld,
  prefix: Prefix,
  ids: readonly string[],
  timeoutMs: number,
): Promise<string[]> {
  if (prefix === 'provision') return ids.map((id) => `provision:${id}`);
  for (const id of prefix === 'cleanup' ? ids : []) {
    world.hosts.mood(id, 'slice.vm_provision', 'fails');
    world.hosts.mood(id, 'slice.vm_release', 'dirty', 2);
  }
  const workers = keepWorkers(1, world.env);
  try {
    await world.waitFor(ids, [prefix === 'release' ? 'active' : 'failed'], timeoutMs);
  } finally {
    await workers.stop();
  }
  const { db } = world.api.services;
  return await Promise.all(
    ids.map(async (id) => {
      if (prefix === 'release') {
        expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
        return `release:${id}:1`;
      }
      expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
      const start = await db
        .selectFrom('workflow_starts')
        .select('workflow_id')
        .where('workflow_id', 'like', `cleanup:${id}:%`)
        .executeTakeFirstOrThrow();
      return start.workflow_id;
    }),
  );
}
