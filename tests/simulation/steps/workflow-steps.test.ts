import { workflowDefinitions } from '@gpuaas/control-plane/roles/workflow-definitions';
import { expect, it } from 'vitest';
import { casesOf, verifySteps, TRIALS, type Case } from './step-matrix.ts';
import { scenarios } from './step-scenes.ts';

// One of each kind; the deep tier runs every trial of every step.
const sample: Case[] = [
  { step: 'provision.issue', trial: 'after' },
  { step: 'provision.activate', trial: 'checkpointed' },
  { step: 'provision.wipe.record', trial: 'before' },
  { step: 'provision.fail', trial: 'fail' },
  { step: 'provision.wipe.blocked', trial: 'twice' },
];

it('a launch ends cleanly when its steps are killed, failed or run twice', async () => {
  const scene = scenarios['allocation.provision']!;
  expect(casesOf(scene)).toEqual(expect.arrayContaining(sample));
  await verifySteps(scene, sample, 120_000);
}, 240_000);

it('an app is started once when the worker is killed between its start and the record', async () => {
  const cases: Case[] = [
    { step: 'app_start.members', trial: 'after' },
    { step: 'app_start.end', trial: 'before' },
  ];
  await verifySteps(scenarios['app_instance.start']!, cases, 120_000);
}, 240_000);

it('every step of every workflow has its trials', () => {
  const tried = new Set(
    Object.values(scenarios).flatMap((scene) =>
      casesOf(scene).map(({ step, trial }) => `${scene.workflow}/${step} ${trial}`),
    ),
  );
  const wanted = workflowDefinitions.flatMap(({ name, steps }) =>
    steps.flatMap((step) => TRIALS.map((trial) => `${name}/${step} ${trial}`)),
  );
  expect(wanted.filter((one) => !tried.has(one))).toEqual([]);
});
