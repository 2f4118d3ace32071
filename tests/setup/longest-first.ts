import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take minutes. Where nothing is known of earlier runs, as on a fresh clone, larger files would come first and
 * some of these last, with one processor idle.
 */
export const LONGEST = [
  'node-agent/src/crash-matrix.deep.test.ts',
  'tests/e2e/console-accessibility.deep.test.ts',
  'tests/integration/platform/crashes.deep.test.ts',
  'tests/simulation/steps/workflow-steps.deep.test.ts',
  'tests/simulation/lifecycle/lifecycle-model.deep.test.ts',
  'tests/vm-lab/faults.deep.test.ts',
  'tests/integration/launch/many-launches.deep.test.ts',
  'tests/integration/placement/placement-model.deep.test.ts',
  'tests/simulation/books/virtual-year.deep.test.ts',
  'tests/repository/fresh-clone.deep.test.ts',
  'tests/simulation/steps/whole-host-steps.deep.test.ts',
  'tests/integration/platform/separate-processes.deep.test.ts',
  'tests/integration/platform/supervisor.deep.test.ts',
  'tests/vm-lab/evidence.deep.test.ts',
  'tests/contract/access-matrix.test.ts',
  'tests/contract/fuzz.test.ts',
  'tests/e2e/console-operations.test.ts',
  'tests/integration/platform/crashes.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index === -1 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
