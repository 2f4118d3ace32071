import { it } from 'vitest';
import { casesOf, proveSteps, workflowNames } from './step-matrix.ts';

it.each(workflowNames)(
  'every step of %s, killed before, inside and after it, failed once and run twice, leaves nothing behind',
  async (workflow) => {
    await proveSteps(workflow, casesOf(workflow), 400_000);
  },
  500_000,
);
