import { parseTaskOutput, type TaskKind, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { reasonOf } from '../log.ts';
import { deprovisionUser } from './allocation-deprovision-user.ts';
import { provisionUser } from './allocation-provision-user.ts';
import type { CheckedTask } from './check-task.ts';
import type { StoredOutcome } from './journal.ts';
import { setMode } from './node-set-mode.ts';
import { setSliceIngress } from './slice-ingress-set.ts';
import { checkSlicePrerequisites } from './slice-prereq-check.ts';
import { reconcileSlices } from './slice-reconcile.ts';
import { discoverSliceTopology } from './slice-topology-discover.ts';
import { provisionSliceVm } from './slice-vm-provision.ts';
import { releaseSliceVm } from './slice-vm-release.ts';
import type { TaskContext, TaskHandler, TaskTools } from './task-context.ts';
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

/** The outcome, or null when the task was cut short and a later attempt has to take it up. */
export async function runTask(
  checked: CheckedTask,
  tools: TaskTools,
  context: TaskContext<TaskKind>,
): Promise<StoredOutcome | null> {
  try {
    const output = await underWay(checked, tools, () => handle(checked, tools, context));
    parseTaskOutput(checked.kind, output);
    return { outcome: 'succeeded', output: { ...output } };
  } catch (error) {
    if (context.signal.aborted) return null;
    if (error instanceof TaskError) return failed(error.code, error.message, error.output);
    context.log.error({ reason: reasonOf(error) }, 'task broke');
    return failed('agent_error', reasonOf(error), null);
  }
}

function handle<K extends TaskKind>(
  { kind, params }: { kind: K; params: TaskParams[K] },
  tools: TaskTools,
  context: TaskContext<K>,
): Promise<TaskOutput[K]> {
  return HANDLERS[kind](params, tools, context);
}

function underWay<T>({ params }: CheckedTask, tools: TaskTools, work: () => Promise<T>): Promise<T> {
  if (!('allocation_id' in params)) return work();
  const slots = 'slots' in params ? params.slots : [];
  return tools.underWay.during({ allocation_id: params.allocation_id, slots }, work);
}

export function failed(code: string, detail: string, output: Record<string, unknown> | null): StoredOutcome {
  return {
    outcome: 'failed',
    ...(output ? { output } : {}),
    error: { code, detail: detail.slice(0, 2000) || code },
  };
}
