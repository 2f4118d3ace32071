import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import type { TaskFailure, TaskOutcome } from '../fleet/complete-task.ts';
import { runTask, taskSteps } from '../fleet/run-task.ts';
import { createAccessKey } from './access-key.ts';
import { activateAllocation } from './activate-allocation.ts';
import { emitAllocation } from './allocation-events.ts';
import { cleanUp, cleanUpDeadline, cleanUpSteps } from './clean-up.ts';
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
    'provision.attempts',
    ...taskSteps('provision'),
    'provision.activate',
    'provision.fail',
    ...cleanUpSteps('provision'),
    'provision.cleaned',
  ],
  async run(services, { allocationId }) {
    const workflowId = provisionWorkflowId(allocationId);
    if (!(await step('provision.begin', () => begin(services, allocationId)))) return;
    const result = await build(services, allocationId, workflowId);
    if (result?.outcome === 'succeeded') {
      const { output } = result;
      await step('provision.activate', () => activateAllocation(services, allocationId, output));
      return;
    }
    const failure = result?.error ?? { code: 'unexplained', detail: 'The host gave no reason.' };
    if (!(await step('provision.fail', () => failLaunch(services, allocationId, failure)))) return;
    // Whatever the failed attempt left behind must be proven gone before the slots are sold again.
    const run = { workflowId, prefix: 'provision', executionState: 'cleaning up' } as const;
    const cleaned = await cleanUp(services, allocationId, run);
    if (cleaned !== 'withdrawn') await step('provision.cleaned', () => noteIdle(services, allocationId));
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

/** False when it was ended before it began. */
async function begin(services: Services, allocationId: string): Promise<boolean> {
  return await services.db.transaction().execute(async (tx) => {
    const { state } = await lockAllocation(tx, allocationId);
    if (state !== 'reserved') return state === 'provisioning';
    const moved = await moveAllocation(tx, allocationId, 'provisioning', { execution_state: 'provisioning' });
    if (!moved) return true;
    await createAccessKey(services, tx, allocationId);
    await emitAllocation(tx, 'allocation.provisioning', moved, {
      stage: 'plan',
      status: 'running',
      message: 'The host was asked to build the machine',
    });
    return true;
  });
}

/** The outcome of the last attempt; null when the allocation was ended meanwhile. */
async function build(
  services: Services,
  allocationId: string,
  workflowId: string,
): Promise<TaskOutcome | null> {
  const attempts = await step('provision.attempts', async () =>
    services.policies.get('allocations.provision_attempts'),
  );
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
