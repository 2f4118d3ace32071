import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { findAllocation } from '../find-allocation.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { requestIngressUpdate } from './request-ingress-update.ts';
import type { IngressRow } from './describe-ingress.ts';

/** Removes the forwarding from the host. Repeating it returns the same result. */
export async function detachIngress(
  services: Services,
  tx: Tx,
  caller: Caller,
  allocationId: string,
  ingressId: string,
): Promise<{ allocation: AllocationRow; ingress: IngressRow }> {
  const allocation = await findAllocation(tx, caller, 'ingress.manage', allocationId, { lock: true });
  return await withRole(tx, 'gpuaas_worker', async () => {
    const found = await tx
      .selectFrom('public_ingresses')
      .selectAll()
      .where('id', '=', ingressId)
      .where('allocation_id', '=', allocation.id)
      .executeTakeFirst();
    if (!found) throw notFound();
    if (found.state === 'detaching' || found.state === 'detached') return { allocation, ingress: found };
    const ingress = await tx
      .updateTable('public_ingresses')
      .set({ state: 'detaching', task_id: null, failures: 0, failure: null })
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await requestIngressUpdate(services, tx, allocation);
    return { allocation, ingress };
  });
}
