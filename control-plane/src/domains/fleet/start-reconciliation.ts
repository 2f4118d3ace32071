import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { machinesOn } from '../allocations/allocations-on-node.ts';
import { issueTask } from './issue-task.ts';
import { describeTask } from './list-tasks.ts';
import { requireNode } from './require-node.ts';

/** Queues a comparison of the host with what the platform believes of it. It only looks. */
export async function startReconciliation(
  services: Services,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<components['schemas']['NodeTask']> {
  await requireNode(tx, nodeId);
  const now = services.clock.now();
  const taskId = await issueTask(tx, {
    nodeId,
    kind: 'slice.reconcile',
    params: { machines: await machinesOn(tx, nodeId) },
    correlationId,
    expiresAt: new Date(now.getTime() + services.policies.get('fleet.discovery_deadline_seconds') * 1000),
  });
  const task = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  return describeTask(task, now);
}
