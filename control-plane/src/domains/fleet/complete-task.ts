import type { Selectable } from 'kysely';
import { isTaskKind, parseTaskOutput, TaskSchemaError } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import type { Services } from '../../platform/services.ts';
import { recordSpan } from '../../platform/telemetry/tracing.ts';
import { fenced, lockOwnTask } from './report-progress.ts';
import { emitTaskChanged } from './task-events.ts';

export interface TaskFailure {
  code: string;
  detail: string;
}

export interface TaskOutcome {
  outcome: 'succeeded' | 'failed' | 'expired';
  output: unknown;
  error: TaskFailure | null;
}

export interface ReportedOutcome {
  epoch: number;
  outcome: 'succeeded' | 'failed';
  output?: Record<string, unknown>;
  error?: TaskFailure;
}

/** Records the outcome and wakes the workflow that waits for it, in one transaction. */
export async function completeTask(
  services: Services,
  tx: Tx,
  nodeId: string,
  taskId: string,
  reported: ReportedOutcome,
): Promise<void> {
  const task = await lockOwnTask(tx, nodeId, taskId);
  if (task.epoch !== reported.epoch) throw fenced();
  // Delivered twice because the first answer was lost.
  if (task.state === reported.outcome) return;
  if (task.state !== 'claimed') throw fenced();
  const outcome = checkOutcome(task, reported);
  await tx
    .updateTable('node_tasks')
    .set({
      state: outcome.outcome,
      output: outcome.output === null ? null : JSON.stringify(outcome.output),
      error: outcome.error ? JSON.stringify(outcome.error) : null,
      finished_at: services.clock.now(),
      ...(outcome.outcome === 'succeeded' ? { percent: 100 } : {}),
    })
    .where('id', '=', taskId)
    .execute();
  await emitTaskChanged(tx, { ...task, state: outcome.outcome });
  recordSpan(`node task ${task.kind}`, {
    correlationId: task.correlation_id,
    startedAt: task.claimed_at ?? task.created_at,
    endedAt: services.clock.now(),
    failed: outcome.outcome !== 'succeeded',
    attributes: () => ({ task_id: taskId, node_id: nodeId, kind: task.kind, outcome: outcome.outcome }),
  });
  if (task.workflow_id) await services.workflows.signal(tx, task.workflow_id, taskTopic(taskId), outcome);
}

export function taskTopic(taskId: string): string {
  return `task:${taskId}`;
}

/** A success whose output breaks its schema, or that gave more than was asked for, is not a success. */
function checkOutcome(
  { kind, params }: Pick<Selectable<NodeTasks>, 'kind' | 'params'>,
  reported: ReportedOutcome,
): TaskOutcome {
  const output = reported.output ?? null;
  if (reported.outcome === 'failed') {
    const error = reported.error ?? { code: 'unexplained', detail: 'The node gave no reason.' };
    return { outcome: 'failed', output, error };
  }
  try {
    if (isTaskKind(kind)) parseTaskOutput(kind, output);
    const { root = false } = params as { root?: boolean };
    if (kind === 'allocation.provision_user' && output?.['privileged'] !== root) {
      const detail = root ? 'The user did not get root.' : 'The user could become root.';
      return { outcome: 'failed', output, error: { code: 'output_invalid', detail } };
    }
    return { outcome: 'succeeded', output, error: null };
  } catch (error) {
    if (!(error instanceof TaskSchemaError)) throw error;
    return {
      outcome: 'failed',
      output,
      error: { code: 'output_invalid', detail: error.message.slice(0, 2000) },
    };
  }
}
