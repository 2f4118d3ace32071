import { parseTaskOutput, type CandidateSlot } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { sliceProfile } from '../catalog/slice-profile.ts';
import { approvalMisses } from './approval-rules.ts';
import { emitSlotsChanged } from './slot-states.ts';

export interface ApprovalRequest {
  nodeId: string;
  discoveryTaskId: string;
  slotIndexes: number[];
  destructiveWipePolicy: string;
  correlationId: string;
}

/** Turns discovered candidates into slots that may be sold. Already approved indexes are left as they are. */
export async function approveSlots(tx: Tx, request: ApprovalRequest): Promise<void> {
  const chosen = await chosenCandidates(tx, request);
  const misses = approvalMisses(chosen);
  if (misses.length > 0) {
    throw new Problem('slot_approval_refused', 'Nothing was approved; every miss is listed.', {
      errors: misses.map((miss) => ({
        pointer: `/candidates/${miss.slotIndex}`,
        code: miss.code,
        detail: `Slot ${miss.slotIndex} ${miss.detail}.`,
      })),
    });
  }
  for (const slot of chosen) {
    const profile = await sliceProfile(tx, slot.gpu_model);
    await tx
      .insertInto('node_resource_slots')
      .values({
        id: newId(),
        node_id: request.nodeId,
        slot_index: slot.slot_index,
        state: 'available',
        gpu_model: slot.gpu_model,
        gpu_pci_address: slot.gpu_pci_address,
        fabric_vf_pci_address: slot.fabric_vf_pci_address!,
        nvme_serial: slot.nvme_serial!,
        nvme_device: slot.nvme_device!,
        management_mac: slot.management_mac,
        private_ip: slot.private_ip,
        ovs_port: slot.ovs_port,
        numa_node: slot.numa_node,
        pcie_root: slot.pcie_root,
        vcpu: profile.vcpu,
        memory_gib: profile.memoryGib,
        capacity_metadata: JSON.stringify({
          fabric_claim_mode: 'per_slot_vf',
          fabric_vf_pci_address: slot.fabric_vf_pci_address,
          destructive_wipe_policy: request.destructiveWipePolicy,
        }),
        health_state: 'healthy',
        health_detail: 'Approved from discovery.',
      })
      .onConflict((c) => c.columns(['node_id', 'slot_index']).doNothing())
      .execute();
  }
  await emitSlotsChanged(tx, request.nodeId, request.correlationId);
}

async function chosenCandidates(tx: Tx, request: ApprovalRequest): Promise<CandidateSlot[]> {
  const node = await tx
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', request.nodeId)
    .forUpdate()
    .executeTakeFirst();
  if (!node) throw notFound();
  const task = await tx
    .selectFrom('node_tasks')
    .select(['state', 'output'])
    .where('id', '=', request.discoveryTaskId)
    .where('node_id', '=', request.nodeId)
    .where('kind', '=', 'slice.topology_discover')
    .executeTakeFirst();
  if (task?.state !== 'succeeded') {
    throw new Problem('discovery_not_ready', 'Approve from a discovery of this host that has succeeded.');
  }
  const { candidates } = parseTaskOutput('slice.topology_discover', task.output);
  const missing = request.slotIndexes.filter((index) => !candidates.some((c) => c.slot_index === index));
  if (missing.length > 0) {
    throw new Problem('slot_approval_refused', 'The discovery did not find these slots.', {
      errors: missing.map((index) => ({
        pointer: '/slot_indexes',
        code: 'candidate_missing',
        detail: `There is no candidate ${index}.`,
      })),
    });
  }
  return candidates.filter((candidate) => request.slotIndexes.includes(candidate.slot_index));
}
