import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { findTask } from '../../tasks/find-task.ts';
import { issueTask, type NewTask } from '../../tasks/issue-task.ts';
import { describeTask } from '../../tasks/list-tasks.ts';
import { requireNode } from './require-node.ts';
import { present } from '../../../platform/present.ts';

/** Queues a read-only task on the host, for an operator who waits for its result. */
export async function issueInspectionTask<K extends TaskKind>(
  { clock, policies }: Services,
  tx: Tx,
  task: Omit<NewTask<K>, 'expiresAt'>,
): Promise<components['schemas']['NodeTask']> {
  await requireNode(tx, task.nodeId);
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + policies.get('fleet.discovery_deadline_seconds') * 1000);
  const taskId = await issueTask(tx, { ...task, expiresAt });
  const row = await findTask(tx, task, taskId);
  return describeTask(present(row, 'task'), now);
}
