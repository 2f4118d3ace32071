import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { findLatestTask } from '../../tasks/find-task.ts';
import { issueInspectionTask } from '../nodes/issue-inspection-task.ts';
import { describeDiscovery } from './list-discoveries.ts';

type NodeTask = components['schemas']['NodeTask'];

/** Queues a discovery. Its result is advisory and lives only in the task's output. */
export async function startDiscovery(
  services: Services,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<NodeTask> {
  return await issueInspectionTask(services, tx, {
    nodeId,
    kind: 'slice.topology_discover',
    params: {},
    correlationId,
  });
}

export async function latestDiscovery(db: Db | Tx, now: Date, nodeId: string) {
  const task = await findLatestTask(db, { nodeId, kind: 'slice.topology_discover' });
  if (!task) throw notFound();
  return await describeDiscovery(db, task, now);
}
