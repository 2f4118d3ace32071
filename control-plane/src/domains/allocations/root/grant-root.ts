import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { latestOnboarding } from '../../fleet/onboarding/redeploy-machine.ts';
import { type AllocationRow, hostOf } from '../transition-allocation.ts';

/**
 * Decides whether the tenant of a whole host gets root: only if the policy allows it and MAAS will erase and
 * reinstall the host for the same use after the release. It is recorded before the host gets the task,
 * because the host may have granted root whatever it reports.
 */
export async function grantRoot(services: Services, tx: Tx, allocation: AllocationRow): Promise<boolean> {
  if (allocation.root_granted_at) return true;
  if (!services.maas || !services.policies.get('allocations.root_on_redeployable_hosts')) return false;
  const node = await tx
    .selectFrom('nodes')
    .select('maas_system_id')
    .where('id', '=', hostOf(allocation))
    .executeTakeFirstOrThrow();
  const last = await latestOnboarding(tx, hostOf(allocation));
  // A host that was converted from slices would be reinstalled for another use.
  if (last?.profile !== 'baremetal' || last.maas_system_id !== node.maas_system_id) return false;
  await tx
    .updateTable('allocations')
    .set({ root_granted_at: services.clock.now() })
    .where('id', '=', allocation.id)
    .execute();
  return true;
}
