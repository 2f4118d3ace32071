import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { issueTask, type NewTask } from './issue-task.ts';
import { describeTask } from './list-tasks.ts';
import { requireNode } from './require-node.ts';

/** Queues a task that only looks at the host, for an operator who waits for what it finds. */
export async function askHost<K extends TaskKind>(
  { clock, policies }: Services,
  tx: Tx,
  task: Omit<NewTask<K>, 'expiresAt'>,
): Promise<components['schemas']['NodeTask']> {
  await requireNode(tx, task.nodeId);
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + policies.get('fleet.discovery_deadline_seconds') * 1000);
  const taskId = await issueTask(tx, { ...task, expiresAt });
  const row = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  return describeTask(row, now);
}
