import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { emitSlotsChanged, transitionSlots } from '../../fleet/slots/transition-slots.ts';
import { serialKey } from '../../fleet/disks/serial-key.ts';
import { resolveIncident } from '../../incidents/open-incident.ts';
import { issueCertificates } from '../certificates/issue-certificates.ts';
import { releaseClaim } from '../claims.ts';
import { findBlockedSlot } from './find-blocked-slot.ts';
import { completeAttestedRelease } from '../release/complete-release.ts';
import {
  markProven,
  newestCertificate,
  unprovenDevicesOf,
  unprovenOf,
  type UnprovenDevice,
} from './unproven-devices.ts';

export interface ExternalWipe {
  slotId: string;
  deviceSerial: string;
  method: string;
  evidence: string;
  witnessId: string;
  correlationId: string;
}

/**
 * A verified wipe that a person vouches for. It must be of the disk or the GPU that was sold, or of a device that was
 * given up with a retired slot: such a device may be approved again, and its old slot stays retired.
 */
export async function recordExternalWipe(services: Services, tx: Tx, wipe: ExternalWipe): Promise<string> {
  return await withRole(tx, 'gpuaas_worker', async () => {
    const givenUp = await unprovenDevicesOf(tx, wipe.slotId);
    return givenUp.length > 0
      ? await proveGivenUp(services, tx, wipe, givenUp)
      : await proveBlocked(services, tx, wipe);
  });
}

async function proveGivenUp(
  services: Services,
  tx: Tx,
  wipe: ExternalWipe,
  givenUp: readonly UnprovenDevice[],
): Promise<string> {
  const device = givenUp.find(({ serial }) => serial === serialKey(wipe.deviceSerial));
  if (!device) throw deviceMismatch('Prove a device that was given up with this slot.');
  const certificate = await keepCertificate(services, tx, wipe, device.allocation_id, device.slot_index);
  await markProven(tx, device, certificate);
  await issueCertificates(services, tx, [certificate]);
  const slot = await tx
    .selectFrom('node_resource_slots')
    .select('node_id')
    .where('id', '=', wipe.slotId)
    .executeTakeFirstOrThrow();
  return slot.node_id;
}

/** The slot is sold again when its disk and its GPU are both proven, in either order. */
async function proveBlocked(services: Services, tx: Tx, wipe: ExternalWipe): Promise<string> {
  const { allocation, sold, gpuSerial, nodeId } = await findBlockedSlot(tx, wipe.slotId);
  const devices = [sold.nvme_serial, ...(gpuSerial ? [gpuSerial] : [])].map(serialKey);
  const proven = serialKey(wipe.deviceSerial);
  const missing = await unprovenOf(tx, allocation.id, devices);
  const unproven = missing.length > 0 ? missing : devices;
  if (!unproven.includes(proven))
    throw deviceMismatch(`Prove what held the tenant’s data and is not proven yet: ${unproven.join(', ')}.`);
  const id = await keepCertificate(services, tx, wipe, allocation.id, sold.slot_index);
  const left = missing.filter((serial) => serial !== proven);
  if (left.length > 0) {
    const detail = `${proven} is proven clean; ${left.join(', ')} is not yet.`;
    await transitionSlots(tx, [wipe.slotId], {
      to: 'cleanup_blocked',
      health: { state: 'unhealthy', detail },
    });
  } else await returnToSale(services, tx, wipe, allocation.id, sold.nvme_serial);
  await emitSlotsChanged(tx, nodeId, wipe.correlationId);
  await issueCertificates(services, tx, [id]);
  return nodeId;
}

async function returnToSale(
  services: Services,
  tx: Tx,
  wipe: ExternalWipe,
  allocationId: string,
  diskSerial: string,
): Promise<void> {
  const now = services.clock.now();
  await releaseClaim(tx, allocationId, wipe.slotId, now);
  const detail = `Wiped by ${wipe.method}, witnessed by an operator.`;
  await transitionSlots(tx, [wipe.slotId], {
    to: 'available',
    health: { state: 'healthy', detail },
    lastWipeId: await newestCertificate(tx, allocationId, diskSerial),
  });
  await resolveIncident(tx, now, { type: 'slot_cleanup_blocked', targetId: wipe.slotId }, detail);
  await completeAttestedRelease(services, tx, allocationId);
}

async function keepCertificate(
  services: Services,
  tx: Tx,
  wipe: ExternalWipe,
  allocationId: string,
  slotIndex: number,
): Promise<string> {
  const now = services.clock.now();
  const id = newId();
  await tx
    .insertInto('wipe_certificates')
    .values({
      id,
      allocation_id: allocationId,
      slot_id: wipe.slotId,
      slot_index: slotIndex,
      node_task_id: null,
      witnessed_by: wipe.witnessId,
      device_serial: serialKey(wipe.deviceSerial),
      method: wipe.method,
      verified: true,
      verification: wipe.evidence,
      started_at: now,
      finished_at: now,
    })
    .execute();
  return id;
}

function deviceMismatch(detail: string): Problem {
  const pointer = '/device_serial';
  return new Problem('proof_device_mismatch', detail, {
    errors: [{ pointer, code: 'proof_device_mismatch', detail: 'is not a device that was sold here' }],
  });
}
