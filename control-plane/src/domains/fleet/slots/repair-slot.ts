import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { approvalContext, lockApprovals } from './approval-context.ts';
import { approvalViolations } from './approval-rules.ts';
import { latestCandidates } from './approve-slots.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { lockSlot } from './lock-slot.ts';
import { slotBindings } from './slot-bindings.ts';
import { emitSlotsChanged } from './transition-slots.ts';

export interface RepairRequest {
  nodeId: string;
  slotId: string;
  discoveryTaskId: string;
  note: string;
  correlationId: string;
}

/** Binds a disabled slot to the host's current devices. It stays disabled until it is approved again. */
export async function repairSlot(tx: Tx, request: RepairRequest): Promise<void> {
  const node = await lockNode(tx, request.nodeId);
  await lockApprovals(tx);
  const slot = await lockSlot(tx, request.nodeId, request.slotId);
  if (slot.state !== 'disabled') {
    throw new Problem('slot_not_disabled', `The slot is ${slot.state}; disable it first.`);
  }
  const candidates = await latestCandidates(tx, request.nodeId, request.discoveryTaskId);
  const candidate = candidates.find((found) => found.slot_index === slot.slot_index);
  if (!candidate) {
    throw new Problem('slot_approval_refused', `The discovery has no candidate ${slot.slot_index}.`, {
      errors: [{ pointer: '/discovery_task_id', code: 'candidate_missing', detail: 'has no such slot' }],
    });
  }
  const { destructive_wipe_policy, fabric_claim_mode } = slot.capacity_metadata;
  const context = await approvalContext(tx, node, {
    fabricClaimMode: fabric_claim_mode,
    destructiveWipePolicy: destructive_wipe_policy,
    reapproved: new Set([slot.slot_index]),
    discovered: candidates,
  });
  const misses = approvalViolations([candidate], context);
  if (misses.length > 0) {
    throw new Problem('slot_approval_refused', 'The slot is not repaired yet; every violation is listed.', {
      errors: misses,
    });
  }
  await tx
    .updateTable('node_resource_slots')
    .set({
      ...slotBindings(candidate, destructive_wipe_policy),
      health_state: 'unknown',
      health_detail: `Repaired: ${request.note}`,
      device_fault: null,
    })
    .where('id', '=', slot.id)
    .execute();
  await emitSlotsChanged(tx, request.nodeId, request.correlationId);
}
