import { parseTaskOutput, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { TaskOutcome } from '../fleet/complete-task.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { issueCertificates } from './certificates/issue-certificates.ts';
import { claimedSlots, releaseClaim } from './claims.ts';
import type { AllocationRow } from './move-allocation.ts';

type Wipe = TaskOutput['slice.vm_release']['wipes'][number];
type WipeMethod = TaskParams['slice.vm_release']['wipe_method'];

/** Nothing tries again by itself at once from here. */
export async function reportBlocked(
  services: Services,
  tx: Tx,
  allocationId: string,
  attempts: number,
): Promise<void> {
  for (const slot of await claimedSlots(tx, allocationId)) {
    await openIncident(tx, services.clock.now(), {
      type: 'slot_cleanup_blocked',
      targetType: 'slot',
      targetId: slot.slot_id,
      summary: `Slot ${slot.slot_index} is quarantined: ${attempts} wipes gave no proof.`,
      detail: { allocation_id: allocationId, nvme_serial: slot.nvme_serial },
    });
  }
}

/** What the host is asked at the end of a slice: the machine gone and every slot it still holds wiped. */
export async function releaseTask(services: Services, tx: Tx, allocation: AllocationRow) {
  const slots = await claimedSlots(tx, allocation.id);
  return {
    kind: 'slice.vm_release' as const,
    params: {
      allocation_id: allocation.id,
      slots,
      wipe_method: await wipeMethod(tx, slots[0]!.slot_id),
      stop_timeout_seconds: services.policies.get('allocations.stop_timeout_seconds', {
        organizationId: allocation.organization_id,
        projectId: allocation.project_id,
      }),
    },
  };
}

async function wipeMethod(tx: Tx, slotId: string): Promise<WipeMethod> {
  const row = await tx
    .selectFrom('node_resource_slots')
    .select('capacity_metadata')
    .where('id', '=', slotId)
    .executeTakeFirstOrThrow();
  const metadata = row.capacity_metadata as { destructive_wipe_policy: WipeMethod };
  return metadata.destructive_wipe_policy;
}

/** A failed task may still carry evidence; what does not parse proves nothing. */
function wipesOf(output: unknown): Wipe[] {
  try {
    const { vm_absent, network_clean, wipes } = parseTaskOutput('slice.vm_release', output);
    const absent = vm_absent && network_clean;
    return absent ? wipes : wipes.map((wipe) => ({ ...wipe, verified: false }));
  } catch {
    return [];
  }
}

/** Keeps the evidence and gives back what is proven clean. */
export async function recordWipes(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  result: TaskOutcome & { taskId: string },
): Promise<void> {
  const { taskId } = result;
  const wipes = wipesOf(result.output);
  const held = await claimedSlots(tx, allocation.id);
  const recorded: string[] = [];
  for (const slot of held) {
    const wipe = wipes.find((candidate) => candidate.slot_id === slot.slot_id);
    const proven = wipe !== undefined && wipe.verified && wipe.device_serial === slot.nvme_serial;
    const certificateId =
      wipe && (await insertCertificate(tx, allocation.id, slot.slot_index, taskId, wipe, proven));
    if (certificateId) recorded.push(certificateId);
    if (proven) {
      await releaseClaim(tx, allocation.id, slot.slot_id, services.clock.now());
      const detail = `Wiped by ${wipe.method} and verified.`;
      await moveSlots(tx, [slot.slot_id], {
        to: 'available',
        health: { state: 'healthy', detail },
        lastWipeId: certificateId!,
      });
      const incident = { type: 'slot_cleanup_blocked', targetId: slot.slot_id } as const;
      await resolveIncident(tx, services.clock.now(), incident, detail);
    } else {
      const detail = wipe ? `Wipe not verified: ${wipe.verification}` : 'The host gave no proof of a wipe.';
      await moveSlots(tx, [slot.slot_id], {
        to: 'cleanup_blocked',
        health: { state: 'unhealthy', detail: detail.slice(0, 500) },
      });
    }
  }
  if (held.length > 0) await emitSlotsChanged(tx, allocation.node_id!, allocation.correlation_id);
  await issueCertificates(services, tx, recorded);
}

async function insertCertificate(
  tx: Tx,
  allocationId: string,
  slotIndex: number,
  taskId: string,
  wipe: Wipe,
  verified: boolean,
): Promise<string> {
  // A step that runs twice brings the same evidence twice.
  const known = await tx
    .selectFrom('wipe_certificates')
    .select('id')
    .where('node_task_id', '=', taskId)
    .where('slot_id', '=', wipe.slot_id)
    .executeTakeFirst();
  if (known) return known.id;
  const id = newId();
  await tx
    .insertInto('wipe_certificates')
    .values({
      id,
      allocation_id: allocationId,
      slot_id: wipe.slot_id,
      slot_index: slotIndex,
      node_task_id: taskId,
      device_serial: wipe.device_serial,
      method: wipe.method,
      verified,
      verification: wipe.verification,
      tools: JSON.stringify(wipe.tools ?? []),
      started_at: wipe.started_at,
      finished_at: wipe.finished_at,
    })
    .execute();
  return id;
}
