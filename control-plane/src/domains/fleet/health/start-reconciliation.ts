import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { FleetServices } from '../needs.ts';
import { issueInspectionTask } from '../nodes/issue-inspection-task.ts';

/** Queues a comparison of the host with the platform's records. It changes nothing. */
export async function startReconciliation(
  services: FleetServices,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<components['schemas']['NodeTask']> {
  const { leases } = services;
  const params = {
    machines: await leases.listDesiredMachines(tx, nodeId),
    held: await leases.listHeldSlots(tx, nodeId),
  };
  return await issueInspectionTask(services, tx, { nodeId, kind: 'slice.reconcile', params, correlationId });
}
