import { parseTaskOutput, type TaskKind, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { errorMessage } from '../logger.ts';
import { deprovisionUser } from './allocation-deprovision-user.ts';
import { provisionUser } from './allocation-provision-user.ts';
import type { ValidatedTask } from './check-task.ts';
import type { StoredOutcome } from './journal.ts';
import { setMode } from './node-set-mode.ts';
import { setSliceIngress } from './slice-ingress-set.ts';
import { checkSlicePrerequisites } from './slice-prereq-check.ts';
import { reconcileSlices } from './slice-reconcile.ts';
import { discoverSliceTopology } from './slice-topology-discover.ts';
import { provisionSliceVm } from './slice-vm-provision.ts';
import { releaseSliceVm } from './slice-vm-release.ts';
import type { TaskContext, TaskHandler, TaskDependencies } from './task-context.ts';
import { TaskError } from './task-error.ts';

const HANDLERS: { [K in TaskKind]: TaskHandler<K> } = {
  'allocation.deprovision_user': deprovisionUser,
  'allocation.provision_user': provisionUser,
  'node.set_mode': setMode,
  'slice.ingress_set': setSliceIngress,
  'slice.prereq_check': checkSlicePrerequisites,
  'slice.reconcile': reconcileSlices,
  'slice.topology_discover': discoverSliceTopology,
  'slice.vm_provision': provisionSliceVm,
  'slice.vm_release': releaseSliceVm,
};

/** The outcome, or null when the task was interrupted and a later attempt must resume it. */
export async function runTask(
  checked: ValidatedTask,
  tools: TaskDependencies,
  context: TaskContext<TaskKind>,
): Promise<StoredOutcome | null> {
  try {
    const output = await underWay(checked, tools, () => handle(checked, tools, context));
    parseTaskOutput(checked.kind, output);
    return { outcome: 'succeeded', output: { ...output } };
  } catch (error) {
    if (context.signal.aborted) return null;
    if (error instanceof TaskError) return failedOutcome(error.code, error.message, error.output);
    context.log.error({ reason: errorMessage(error) }, 'task broke');
    return failedOutcome('agent_error', errorMessage(error), null);
  }
}

function handle<K extends TaskKind>(
  { kind, params }: { kind: K; params: TaskParams[K] },
  tools: TaskDependencies,
  context: TaskContext<K>,
): Promise<TaskOutput[K]> {
  return HANDLERS[kind](params, tools, context);
}

function underWay<T>({ params }: ValidatedTask, tools: TaskDependencies, work: () => Promise<T>): Promise<T> {
  if (!('allocation_id' in params)) return work();
  const slots = 'slots' in params ? params.slots : [];
  return tools.underWay.during({ allocation_id: params.allocation_id, slots }, work);
}

export function failedOutcome(
  code: string,
  detail: string,
  output: Record<string, unknown> | null,
): StoredOutcome {
  return {
    outcome: 'failed',
    ...(output ? { output } : {}),
    error: { code, detail: detail.slice(0, 2000) || code },
  };
}
