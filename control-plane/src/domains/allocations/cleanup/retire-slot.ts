import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';
import { retireBlockedSlot } from '../../fleet/slots/retire-blocked-slot.ts';
import { resolveIncident } from '../../incidents/open-incident.ts';
import { releaseClaim } from '../claims.ts';
import { findBlockedSlot } from './find-blocked-slot.ts';
import { noteUnprovenDevices } from './unproven-devices.ts';
import { completeAttestedRelease } from '../release/complete-release.ts';

/** Retires a slot: its claim ends, so that its allocation can end, and the slot is never leased again. */
export async function retireSlot(
  services: Services,
  tx: Tx,
  request: { slotId: string; reason: string; correlationId: string },
): Promise<string> {
  const { slotId, reason, correlationId } = request;
  const now = services.clock.now();
  const { allocation, sold, nodeId } = await withRole(tx, 'gpuaas_worker', () => findBlockedSlot(tx, slotId));
  await retireBlockedSlot(tx, nodeId, slotId, reason, correlationId);
  await withRole(tx, 'gpuaas_worker', async () => {
    await noteUnprovenDevices(tx, { slotId, allocationId: allocation.id, sold, now });
    await releaseClaim(tx, allocation.id, slotId, now);
    await resolveIncident(tx, now, { type: 'slot_cleanup_blocked', targetId: slotId }, `Retired: ${reason}`);
    await completeAttestedRelease(services, tx, allocation.id, 'Ended; a slot was retired with its disk');
  });
  return nodeId;
}
