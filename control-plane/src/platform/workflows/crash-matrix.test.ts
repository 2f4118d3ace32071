import { expect, it } from 'vitest';
import { verifyCrashPoints } from './testing/crash-matrix.ts';
import { crashPoints } from './testing/six-steps.workflow.ts';

// One of each kind; the deep tier runs them all.
const sample = ['reserve:before', 'charge:after', 'settle:after', 'announce:checkpointed'];

it('ends with each effect once when its worker is killed before, inside or after a step', async () => {
  expect(crashPoints).toEqual(expect.arrayContaining(sample));
  await verifyCrashPoints(sample, 180_000);
}, 240_000);
