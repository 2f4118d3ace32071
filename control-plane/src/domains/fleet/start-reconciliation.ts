import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { machinesOn, slotsHeldOn } from '../allocations/allocations-on-node.ts';
import { askHost } from './ask-host.ts';

/** Queues a comparison of the host with what the platform believes of it. It only looks. */
export async function startReconciliation(
  services: Services,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<components['schemas']['NodeTask']> {
  const params = { machines: await machinesOn(tx, nodeId), held: await slotsHeldOn(tx, nodeId) };
  return await askHost(services, tx, { nodeId, kind: 'slice.reconcile', params, correlationId });
}
