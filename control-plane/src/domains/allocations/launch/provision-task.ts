import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { TaskRequest } from '../../tasks/run-task.ts';
import { accessPublicKey } from '../connection/access-key.ts';
import { hostOf, lockAllocation } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';

/** The task that builds the machine; null if the allocation ended meanwhile. */
export async function provisionTask(
  services: Services,
  tx: Tx,
  allocationId: string,
  run: { workflowId: string; dedupeKey: string },
): Promise<TaskRequest | null> {
  const allocation = await lockAllocation(tx, allocationId);
  if (allocation.state !== 'provisioning') return null;
  const about = {
    nodeId: hostOf(allocation),
    correlationId: allocation.correlation_id,
    subject: { type: 'allocation', id: allocationId } as const,
    ...run,
  };
  const keys = [await accessPublicKey(tx, allocationId), ...allocation.ssh_authorized_keys];
  return { ...about, ...(await shapeOf(allocation).provisionTask(services, tx, allocation, keys)) };
}
