import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import type { TaskFailure, TaskOutcome } from '../fleet/complete-task.ts';
import { runTask, taskSteps } from '../fleet/run-task.ts';
import { createAccessKey } from './access-key.ts';
import { activateAllocation } from './activate-allocation.ts';
import { emitAllocation } from './allocation-events.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps, planCleanUpOf } from './clean-up.ts';
import { failLaunch } from './fail-launch.ts';
import { lockAllocation, moveAllocation } from './move-allocation.ts';
import { noteIdle } from './note-idle.ts';
import { provisionTask } from './provision-task.ts';

interface Input {
  allocationId: string;
  correlationId: string;
}

export const provisionWorkflow: WorkflowDefinition<Services, Input> = {
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
      (await failLaunch(services, allocationId, failure))
        ? await planCleanUpOf(services, allocationId)
        : null,
    );
    if (plan === null) return;
    // Whatever the failed attempt left behind must be proven gone before the slots are sold again.
    const run = { workflowId, prefix: 'provision', executionState: 'cleaning up' } as const;
    const cleaned = await cleanUp(services, allocationId, run, plan);
    if (cleaned !== 'withdrawn')
      await step('provision.cleaned', () => noteIdle(services, allocationId, workflowId));
  },
};

/** The attempts to build it and, when they fail, to clean up, with a quarter of that for waiting in line. */
export function provisionDeadline(policies: Policies): number {
  const task = policies.get('allocations.provision_deadline_seconds');
  return 1.25 * (policies.get('allocations.provision_attempts') * task + cleanUpDeadline(policies));
}

export function provisionWorkflowId(allocationId: string): string {
  return `provision:${allocationId}`;
}

/**
 * How often the host is asked; null when it was ended before it began. Kept with the step: a run that is resumed must not
 * count by another number than it began with.
 */
async function begin(services: Services, allocationId: string): Promise<number | null> {
  const attempts = services.policies.get('allocations.provision_attempts');
  return await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state !== 'reserved') return current.state === 'provisioning' ? attempts : null;
    const moved = await moveAllocation(tx, current, 'provisioning', { execution_state: 'provisioning' });
    if (!moved) return attempts;
    await createAccessKey(services, tx, allocationId);
    await emitAllocation(tx, 'allocation.provisioning', moved, {
      stage: 'plan',
      status: 'running',
      message: 'The host was asked to build the machine',
    });
    return attempts;
  });
}

/** The outcome of the last attempt; null when the allocation was ended meanwhile. */
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

/** What a host refuses it refuses again, and a silent one has had its time. */
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
