import type { Selectable } from 'kysely';
import {
  isTaskKind,
  parseTaskOutput,
  TaskSchemaError,
  type TaskKind,
  type TaskParams,
} from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import type { Services } from '../../platform/services.ts';
import { recordSpan } from '../../platform/telemetry/tracing.ts';
import { rulesOf } from './kinds.ts';
import { fencedProblem, lockTaskOfNode } from './report-progress.ts';
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

/** Records the outcome and wakes the waiting workflow, in one transaction. */
export async function completeTask(
  services: Services,
  tx: Tx,
  nodeId: string,
  taskId: string,
  reported: ReportedOutcome,
): Promise<void> {
  const task = await lockTaskOfNode(tx, nodeId, taskId);
  if (task.epoch !== reported.epoch) throw fencedProblem();
  // Delivered twice, because the first reply was lost.
  if (task.state === reported.outcome) return;
  if (task.state !== 'claimed') throw fencedProblem();
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
  if (task.workflow_id)
    await services.workflows.signal(tx, task.workflow_id, taskSignalTopic(taskId), outcome);
}

export function taskSignalTopic(taskId: string): string {
  return `task:${taskId}`;
}

/** A success whose output breaks its schema, or that granted more than requested, is a failure. */
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
    const refusal = isTaskKind(kind) ? refuseOutput(kind, params, output) : null;
    if (refusal === null) return { outcome: 'succeeded', output, error: null };
    return { outcome: 'failed', output, error: { code: 'output_invalid', detail: refusal } };
  } catch (error) {
    if (!(error instanceof TaskSchemaError)) throw error;
    return {
      outcome: 'failed',
      output,
      error: { code: 'output_invalid', detail: error.message.slice(0, 2000) },
    };
  }
}

function refuseOutput(kind: TaskKind, params: unknown, output: unknown): string | null {
  const parsed = parseTaskOutput(kind, output);
  return rulesOf(kind).refuseOutput?.(params as TaskParams[TaskKind], parsed) ?? null;
}
