import { sanitizeFields } from '@gpuaas/contracts/sanitize';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeTask } from './list-tasks.ts';

type NodeTaskDetail = components['schemas']['NodeTaskDetail'];

/** One task with its parameters and output, secrets masked. */
export async function getTask(db: Db | Tx, now: Date, taskId: string): Promise<NodeTaskDetail> {
  const row = await db.selectFrom('node_tasks').selectAll().where('id', '=', taskId).executeTakeFirst();
  if (!row) throw notFound();
  return {
    task: describeTask(row, now),
    params: sanitizeFields(row.params),
    output: row.output && sanitizeFields(row.output),
    lease_expires_at: row.lease_expires_at?.toISOString() ?? null,
  };
}
