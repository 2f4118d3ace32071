import { expect, it } from 'vitest';
import { casesOf, proveSteps, type Case } from './step-matrix.ts';

// One of each kind; the deep tier runs every trial of every step.
const sample: Case[] = [
  { step: 'provision.issue', trial: 'after' },
  { step: 'provision.activate', trial: 'checkpointed' },
  { step: 'provision.wipe.record', trial: 'before' },
  { step: 'provision.fail', trial: 'fail' },
  { step: 'provision.wipe.blocked', trial: 'twice' },
];

it('a launch ends cleanly when its steps are killed, failed or run twice', async () => {
  expect(casesOf('provision')).toEqual(expect.arrayContaining(sample));
  await proveSteps('provision', sample, 120_000);
}, 240_000);
