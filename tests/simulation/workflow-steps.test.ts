import { workflowDefinitions } from '@gpuaas/control-plane/roles/workflow-definitions';
import { expect, it } from 'vitest';
import { casesOf, proveSteps, type Case } from './step-matrix.ts';
import { scenes } from './step-scenes.ts';

// One of each kind; the deep tier runs every trial of every step.
const sample: Case[] = [
  { step: 'provision.issue', trial: 'after' },
  { step: 'provision.activate', trial: 'checkpointed' },
  { step: 'provision.wipe.record', trial: 'before' },
  { step: 'provision.fail', trial: 'fail' },
  { step: 'provision.wipe.blocked', trial: 'twice' },
];

it('a launch ends cleanly when its steps are killed, failed or run twice', async () => {
  const scene = scenes['allocation.provision']!;
  expect(casesOf(scene)).toEqual(expect.arrayContaining(sample));
  await proveSteps(scene, sample, 120_000);
}, 240_000);

it('every workflow has its trials', () => {
  const tried = new Set(Object.values(scenes).map(({ workflow }) => workflow));
  expect(workflowDefinitions.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
});
