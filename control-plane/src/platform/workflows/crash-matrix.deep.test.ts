import { it } from 'vitest';
import { verifyCrashPoints } from './testing/crash-matrix.ts';
import { crashPoints } from './testing/six-steps.workflow.ts';

it('ends with each effect once when its worker is killed at any point of any step', async () => {
  await verifyCrashPoints(crashPoints, 240_000);
}, 300_000);
