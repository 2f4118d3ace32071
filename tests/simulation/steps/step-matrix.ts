import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { workflowDefinitions } from '@gpuaas/control-plane/roles/workflow-definitions';
import { keepWorkers } from '../lifecycle/keep-workers.ts';
import { openLifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import type { Scenario } from './step-scenes.ts';

/** Faults of a step, once each: killed before, inside and after it, failed after its effect, run twice. */
export const TRIALS = ['before', 'after', 'checkpointed', 'fail', 'twice'] as const;
export type Trial = (typeof TRIALS)[number];
export interface Case {
  step: string;
  trial: Trial;
}

/** Every trial of every step that the definition of a workflow names and the scene is for. */
export function casesOf({ workflow, tries = () => true }: Scenario): Case[] {
  const definition = workflowDefinitions.find(({ name }) => name === workflow)!;
  return definition.steps.filter(tries).flatMap((step) => TRIALS.map((trial) => ({ step, trial })));
}

// Deadlines are short so that a silent host is given up within the test.
const POLICIES = {
  'allocations.provision_deadline_seconds': 4,
  'allocations.wipe_deadline_seconds': 4,
  'allocations.wipe_attempts': 2,
  'allocations.provision_attempts': 2,
  'allocations.stop_timeout_seconds': 0,
  'fleet.conversion_deadline_seconds': 4,
  'fleet.discovery_deadline_seconds': 4,
  'fleet.maas_deadline_seconds': 60,
  'fleet.maas_poll_seconds': 0.2,
};

/** One run of the workflow per case; each case happens once, each place is reached, and nothing is left at the end. */
export async function verifySteps(scene: Scenario, cases: readonly Case[], timeoutMs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-steps-'));
  const marker = join(folder, 'happened');
  const world = await openLifecycleWorld({
    nodes: scene.hostsFor(cases.length),
    policies: { ...POLICIES, ...scene.policies },
    withMaas: scene.withMaas ?? false,
  });
  const stops: (() => Promise<void>)[] = [];
  try {
    const steps = cases.map(({ step }) => step);
    const workflowIds = await scene.begin(world, steps, timeoutMs);
    const places = cases.map(({ step, trial }, index) => ({ trial, place: `${workflowIds[index]}/${step}` }));
    const listed = (trials: readonly Trial[]): string =>
      places
        .filter(({ trial }) => trials.includes(trial))
        .map(({ trial, place }) => (trial === 'fail' || trial === 'twice' ? place : `${place}:${trial}`))
        .join(',');
    const workers = keepWorkers(4, {
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
    await scene.ended(world, timeoutMs);
    expect(await happened()).toEqual(expected);
    await world.expectCleanEnd(timeoutMs);
  } finally {
    for (const stop of stops) await stop();
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
