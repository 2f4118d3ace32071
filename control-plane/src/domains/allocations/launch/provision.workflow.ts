import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import type { TaskFailure, TaskOutcome } from '../../tasks/complete-task.ts';
import { runTask, taskSteps } from '../../tasks/run-task.ts';
import { executedBy } from '../execution.ts';
import { createAccessKey } from '../connection/access-key.ts';
import { activateAllocation } from './activate-allocation.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps, loadCleanUpPlan } from '../cleanup/clean-up.ts';
import type { CleanupServices } from '../cleanup/record-cleanup.ts';
import { failLaunch } from './fail-launch.ts';
import { lockAllocation, transitionAllocation } from '../transition-allocation.ts';
import { markExecutionIdle } from '../cleanup/mark-execution-idle.ts';
import { provisionTask } from './provision-task.ts';

interface Input {
  allocationId: string;
  correlationId: string;
}

export const provisionWorkflow: WorkflowDefinition<CleanupServices, Input> = {
  name: 'allocation.provision',
  deadlineSeconds: ({ policies }) => provisionDeadline(policies),
  steps: [
    'provision.begin',
    ...taskSteps('provision'),
    'provision.activate',
    'provision.fail',
    ...cleanUpSteps('provision'),
    'provision.cleaned',
  ],
  async run(services, { allocationId }) {
    const workflowId = provisionWorkflowId(allocationId);
    const attempts = await step('provision.begin', () => begin(services, allocationId));
    if (attempts === null) return;
    const result = await build(services, allocationId, workflowId, attempts);
    if (result?.outcome === 'succeeded') {
      const { output } = result;
      await step('provision.activate', () => activateAllocation(services, allocationId, output));
      return;
    }
    const failure = result?.error ?? { code: 'unexplained', detail: 'The host gave no reason.' };
    const plan = await step('provision.fail', async () =>
      (await failLaunch(services, allocationId, failure, workflowId))
        ? await loadCleanUpPlan(services, allocationId, 'failed_launch')
        : null,
    );
    if (plan === null) return;
    // Stops the machine. Its slots are sold again when an operator confirmed the wipe of what the attempt wrote.
    const run = { workflowId, prefix: 'provision' } as const;
    const cleaned = await cleanUp(services, allocationId, run, plan);
    if (cleaned !== 'withdrawn')
      await step('provision.cleaned', () => markExecutionIdle(services, allocationId, workflowId));
  },
};

/** Time for all attempts and for the cleanup after them, plus a quarter for waiting in the host's task queue. */
export function provisionDeadline(policies: Policies): number {
  const task = policies.get('allocations.provision_deadline_seconds');
  return 1.25 * (policies.get('allocations.provision_attempts') * task + cleanUpDeadline(policies));
}

export function provisionWorkflowId(allocationId: string): string {
  return `provision:${allocationId}`;
}

/**
 * Number of attempts; null if the allocation ended before the first. Stored with the step, so that a resumed
 * run counts as it began.
 */
async function begin(services: Services, allocationId: string): Promise<number | null> {
  const attempts = services.policies.get('allocations.provision_attempts');
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state !== 'reserved') return current.state === 'provisioning' ? attempts : null;
    const execution = executedBy(provisionWorkflowId(allocationId), 'provisioning');
    const moved = await transitionAllocation(tx, current, 'provisioning', execution);
    if (!moved) return attempts;
    await createAccessKey(services, tx, allocationId);
    await emitAllocation(tx, 'allocation.provisioning', moved, {
      stage: 'plan',
      status: 'running',
      message: 'The host received the task to build the machine',
    });
    return attempts;
  });
}

/** The outcome of the last attempt; null if the allocation ended meanwhile. */
async function build(
  services: Services,
  allocationId: string,
  workflowId: string,
  attempts: number,
): Promise<TaskOutcome | null> {
  for (let attempt = 1; ; attempt += 1) {
    const deadlineSeconds = services.policies.get('allocations.provision_deadline_seconds');
    const result = await runTask(services, 'provision', deadlineSeconds, (tx) =>
      provisionTask(services, tx, allocationId, { workflowId, dedupeKey: `${workflowId}:${attempt}` }),
    );
    if (!result || result.outcome === 'succeeded') return result;
    if (attempt >= attempts || !isWorthAnother(result)) return result;
  }
}

/** Errors that a retry cannot fix: the host refused the task, or was silent until the deadline. */
const FINAL: ReadonlySet<TaskFailure['code']> = new Set([
  'plan_refused',
  'slot_leased',
  'disk_not_clean',
  'disk_mounted',
  'gpu_lost',
  'params_invalid',
  'kind_unknown',
  'root_refused',
]);

function isWorthAnother({ outcome, error }: TaskOutcome): boolean {
  return outcome === 'failed' && !FINAL.has(error?.code ?? '');
}
