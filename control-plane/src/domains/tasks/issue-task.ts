import { sql } from 'kysely';
import { parseTaskParams, type TaskKind, type TaskParams } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { subjectOf, type TaskSubject } from './kinds.ts';

export const TASKS_CHANNEL = 'gpuaas_node_tasks';

export interface NewTask<K extends TaskKind> {
  nodeId: string;
  kind: K;
  params: TaskParams[K];
  correlationId: string;
  expiresAt: Date;
  /** Subject of the task; the host itself if omitted. */
  subject?: TaskSubject;
  /** The workflow that waits for the outcome. */
  workflowId?: string;
  /** Issuing the same key again returns the first task. */
  dedupeKey?: string;
}

/** Queues a typed task for a node. It is signed when the node claims it. */
export async function issueTask<K extends TaskKind>(tx: Tx, task: NewTask<K>): Promise<string> {
  const params = parseTaskParams(task.kind, task.params);
  const subject = subjectOf(task.kind, task);
  const inserted = await tx
    .insertInto('node_tasks')
    .values({
      id: newId(),
      node_id: task.nodeId,
      kind: task.kind,
      params: JSON.stringify(params),
      correlation_id: task.correlationId,
      expires_at: task.expiresAt,
      subject_type: subject.type,
      subject_id: subject.id,
      workflow_id: task.workflowId ?? null,
      dedupe_key: task.dedupeKey ?? null,
    })
    .onConflict((c) => c.column('dedupe_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted) {
    await sql`select pg_notify(${TASKS_CHANNEL}, ${task.nodeId})`.execute(tx);
    return inserted.id;
  }
  const first = await tx
    .selectFrom('node_tasks')
    .select('id')
    .where('dedupe_key', '=', task.dedupeKey!)
    .executeTakeFirstOrThrow();
  return first.id;
}
