import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { resolveIncident } from '../incidents/open-incident.ts';
import { issueCertificates } from './certificates/issue-certificates.ts';
import { releaseClaim } from './claims.ts';
import { findBlockedSlot } from './find-blocked-slot.ts';
import { endSettledRelease } from './end-release.ts';

export interface ExternalWipe {
  slotId: string;
  deviceSerial: string;
  method: string;
  evidence: string;
  witnessId: string;
  correlationId: string;
}

/** A verified wipe that a person vouches for. It must be of the disk that was sold. */
export async function recordExternalWipe(services: Services, tx: Tx, wipe: ExternalWipe): Promise<string> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const { allocation, sold, nodeId } = await findBlockedSlot(tx, wipe.slotId);
    if (sold.nvme_serial !== wipe.deviceSerial) {
      throw new Problem('proof_device_mismatch', 'Prove the disk that held the tenant’s data.', {
        errors: [
          {
            pointer: '/device_serial',
            code: 'proof_device_mismatch',
            detail: 'is not the disk that was sold',
          },
        ],
      });
    }
    const now = services.clock.now();
    const id = newId();
    await tx
      .insertInto('wipe_certificates')
      .values({
        id,
        allocation_id: allocation.id,
        slot_id: wipe.slotId,
        slot_index: sold.slot_index,
        node_task_id: null,
        witnessed_by: wipe.witnessId,
        device_serial: wipe.deviceSerial,
        method: wipe.method,
        verified: true,
        verification: wipe.evidence,
        started_at: now,
        finished_at: now,
      })
      .execute();
    await releaseClaim(tx, allocation.id, wipe.slotId, now);
    const detail = `Wiped by ${wipe.method}, witnessed by an operator.`;
    await moveSlots(tx, [wipe.slotId], {
      to: 'available',
      health: { state: 'healthy', detail },
      lastWipeId: id,
    });
    await resolveIncident(tx, now, { type: 'slot_cleanup_blocked', targetId: wipe.slotId }, detail);
    await endSettledRelease(services, tx, allocation.id);
    await emitSlotsChanged(tx, nodeId, wipe.correlationId);
    await issueCertificates(services, tx, [id]);
    return nodeId;
  });
}
