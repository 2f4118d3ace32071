import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { rulesOf, type StageReport, type TaskServices } from './kinds.ts';
import { present } from '../../platform/present.ts';

export interface Progress extends StageReport {
  epoch: number;
  message: string;
  /** Steps since the last report, in order. */
  earlier?: readonly (StageReport & { message: string })[];
}

/** Progress of a claimed task renews its lease. A fenced attempt gets the refusal here and stops. */
export async function reportProgress(
  { policies, taskSinks }: Pick<TaskServices, 'policies' | 'taskSinks'>,
  tx: Tx,
  nodeId: string,
  taskId: string,
  progress: Progress,
): Promise<void> {
  const task = await lockTaskOfNode(tx, nodeId, taskId);
  if (task.state !== 'claimed' || task.epoch !== progress.epoch) throw fencedProblem();
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
    (step, index, all) => !isSame(step, index === 0 ? task : present(all[index - 1], 'earlier step')),
  );
  const { progress: sink } = rulesOf(task.kind);
  if (!sink) return;
  const reported = { kind: task.kind, subjectId: task.subject_id, correlationId: task.correlation_id };
  await taskSinks.progress[sink](tx, reported, steps);
}

function isSame(step: StageReport, before: { stage: string | null; percent: number | null }): boolean {
  return step.stage === before.stage && step.percent === before.percent;
}

export async function lockTaskOfNode(tx: Tx, nodeId: string, taskId: string) {
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

export function fencedProblem(): Problem {
  return new Problem('task_fenced', 'Another attempt owns this task, or it has ended.');
}
