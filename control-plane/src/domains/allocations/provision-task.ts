import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { readinessChecks } from '../catalog/readiness-checks.ts';
import type { TaskToIssue } from '../fleet/run-task.ts';
import { accessPublicKey } from './access-key.ts';
import { claimedSlots } from './claims.ts';
import { hostUsername } from './host-username.ts';
import { isBaremetal, lockAllocation, type AllocationRow } from './move-allocation.ts';
import { grantRoot } from './root/grant-root.ts';

export const GUEST_USER = 'ubuntu';

/** What the host is asked to build; null when the allocation was ended meanwhile. */
export async function provisionTask(
  services: Services,
  tx: Tx,
  allocationId: string,
  run: { workflowId: string; dedupeKey: string },
): Promise<TaskToIssue | null> {
  const allocation = await lockAllocation(tx, allocationId);
  if (allocation.state !== 'provisioning') return null;
  const about = {
    nodeId: allocation.node_id!,
    correlationId: allocation.correlation_id,
    allocationId,
    ...run,
  };
  const keys = [await accessPublicKey(tx, allocationId), ...allocation.ssh_authorized_keys];
  return isBaremetal(allocation)
    ? { ...about, ...userTask(allocation, keys, await grantRoot(services, tx, allocation)) }
    : { ...about, ...(await vmTask(tx, allocation, keys)) };
}

function userTask(allocation: AllocationRow, keys: string[], root: boolean) {
  return {
    kind: 'allocation.provision_user' as const,
    params: {
      allocation_id: allocation.id,
      hostname: allocation.name,
      username: hostUsername(allocation.id),
      ssh_authorized_keys: keys,
      // Agents of older releases do not know the word.
      ...(root ? { root } : {}),
    },
  };
}

async function vmTask(tx: Tx, allocation: AllocationRow, keys: string[]) {
  const sku = await tx
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', allocation.sku)
    .executeTakeFirstOrThrow();
  return {
    kind: 'slice.vm_provision' as const,
    params: {
      allocation_id: allocation.id,
      hostname: allocation.name,
      image: { name: allocation.image, digest: allocation.image_digest },
      slots: await claimedSlots(tx, allocation.id),
      vcpu: sku.vcpu_per_gpu * allocation.gpu_count,
      memory_gib: sku.memory_gib_per_gpu * allocation.gpu_count,
      username: GUEST_USER,
      ssh_authorized_keys: keys,
      readiness_checks: await readinessChecks(tx, allocation.image),
    },
  };
}
