import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { lastOnboarding } from '../../fleet/onboarding/redeploy-machine.ts';
import type { AllocationRow } from '../move-allocation.ts';

/**
 * Whether the tenant of a whole host gets root: only where the policy says so and the release means that MAAS erases
 * the host and installs it anew for the same use. It is written down before the host is asked, as a host that was asked
 * may have given it, whatever it answers.
 */
export async function grantRoot(services: Services, tx: Tx, allocation: AllocationRow): Promise<boolean> {
  if (allocation.root_granted_at) return true;
  if (!services.maas || !services.policies.get('allocations.root_on_redeployable_hosts')) return false;
  const node = await tx
    .selectFrom('nodes')
    .select('maas_system_id')
    .where('id', '=', allocation.node_id!)
    .executeTakeFirstOrThrow();
  const last = await lastOnboarding(tx, allocation.node_id!);
  // A host that was made for slices and converted would come back as something else.
  if (last?.profile !== 'baremetal' || last.maas_system_id !== node.maas_system_id) return false;
  await tx
    .updateTable('allocations')
    .set({ root_granted_at: services.clock.now() })
    .where('id', '=', allocation.id)
    .execute();
  return true;
}
