import { sql } from 'kysely';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { recordStageProgress, type NodeStage } from '../allocations/record-stage-progress.ts';

/** Stages of tasks that serve no allocation. */
type HostStage = 'discover' | 'check' | 'mode';

interface StageReport {
  stage: NodeStage | HostStage;
  percent: number;
  message: string;
}

export interface Progress extends StageReport {
  epoch: number;
  /** What passed since the last report, in its order. */
  earlier?: StageReport[];
}

/** Progress of a claimed task renews its lease. A fenced attempt learns it here and stops. */
export async function reportProgress(
  { policies }: { policies: Policies },
  tx: Tx,
  nodeId: string,
  taskId: string,
  progress: Progress,
): Promise<void> {
  const task = await lockOwnTask(tx, nodeId, taskId);
  if (task.state !== 'claimed' || task.epoch !== progress.epoch) throw fenced();
  const { stage, percent, message } = progress;
  await tx
    .updateTable('node_tasks')
    .set({
      stage,
      percent,
      message,
      lease_expires_at: sql`now() + make_interval(secs => ${policies.get('fleet.task_lease_seconds')})`,
    })
    .where('id', '=', taskId)
    .execute();
  const steps = [...(progress.earlier ?? []), progress].filter(
    (step, index, all) => !isSame(step, index === 0 ? task : all[index - 1]!),
  );
  if (task.allocation_id) {
    await recordStageProgress(tx, task.allocation_id, steps.filter(isOfAllocation), task.correlation_id);
  }
}

function isSame(step: StageReport, before: { stage: string | null; percent: number | null }): boolean {
  return step.stage === before.stage && step.percent === before.percent;
}

function isOfAllocation<S extends StageReport>(step: S): step is S & { stage: NodeStage } {
  return step.stage !== 'discover' && step.stage !== 'check' && step.stage !== 'mode';
}

export async function lockOwnTask(tx: Tx, nodeId: string, taskId: string) {
  const task = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where('id', '=', taskId)
    .where('node_id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst();
  if (!task) throw notFound();
  return task;
}

export function fenced(): Problem {
  return new Problem('task_fenced', 'Another attempt owns this task, or it has ended.');
}
