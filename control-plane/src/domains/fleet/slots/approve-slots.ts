import { parseTaskOutput, type CandidateSlot, type TaskOutput } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { get } from '../../../platform/present.ts';
import { sliceProfiles, type SliceProfile } from '../../catalog/slice-profile.ts';
import { approvalContext, lockApprovals } from './approval-context.ts';
import { approvalViolations, type ApprovalViolation } from './approval-rules.ts';
import { claimDisksForSlices } from '../disks/disk-ownership.ts';
import { findTask } from '../../tasks/find-task.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { capacityViolations, sellableCapacity } from './host-capacity.ts';
import { setSellableCapacity } from './set-sellable-capacity.ts';
import { slotBindings } from './slot-bindings.ts';
import { emitSlotsChanged } from './transition-slots.ts';

export interface ApprovalRequest {
  nodeId: string;
  discoveryTaskId: string;
  /** All candidates if omitted. */
  slotIndexes?: number[];
  destructiveWipePolicy: string;
  fabricClaimMode: string;
  now: Date;
  correlationId: string;
}

/**
 * Turns discovered candidates into slots for sale. Disabled slots are bound to the discovered devices and
 * sold again; slots that are for sale or sold stay as they are.
 */
export async function approveSlots(policies: Policies, tx: Tx, request: ApprovalRequest): Promise<void> {
  const { nodeId } = request;
  const node = await lockNode(tx, nodeId);
  await lockApprovals(tx);
  const { candidates: discovered, inventory } = await latestDiscovered(tx, nodeId, request.discoveryTaskId);
  const standing = await standingSlots(tx, nodeId);
  const chosen = discovered.filter(
    ({ slot_index }) =>
      (request.slotIndexes?.includes(slot_index) ?? true) && !standing.settled.has(slot_index),
  );
  const chosenIndexes = new Set(chosen.map((slot) => slot.slot_index));
  const context = await approvalContext(tx, node, {
    fabricClaimMode: request.fabricClaimMode,
    destructiveWipePolicy: request.destructiveWipePolicy,
    reapproved: chosenIndexes,
    discovered,
  });
  const reserve = {
    vcpu: policies.get('fleet.host_reserve_vcpu'),
    memoryGib: policies.get('fleet.host_reserve_memory_gib'),
  };
  const sellable = inventory ? sellableCapacity(inventory, reserve) : null;
  const profiles = await sliceProfiles(tx);
  const asked = chosen.flatMap((slot) => profiles.get(slot.gpu_model) ?? []);
  const misses = [
    ...missingCandidates(request, discovered),
    ...approvalViolations(chosen, context),
    ...capacityViolations(sellable, [...standing.held, ...asked]),
  ];
  if (misses.length > 0) {
    throw new Problem('slot_approval_refused', 'Nothing was approved; every violation is listed.', {
      errors: misses,
    });
  }
  if (sellable) await setSellableCapacity(tx, nodeId, sellable);
  for (const slot of chosen) {
    const profile = get(profiles, slot.gpu_model, 'profile');
    await approveSlot(tx, request, { ...slot, profile }, standing.disabled.get(slot.slot_index));
  }
  await claimDisksForSlices(
    tx,
    nodeId,
    chosen.map((slot) => slot.nvme_serial!),
    request.discoveryTaskId,
  );
  await emitSlotsChanged(tx, nodeId, request.correlationId);
}

async function approveSlot(
  tx: Tx,
  request: ApprovalRequest,
  slot: CandidateSlot & { profile: SliceProfile },
  slotId: string | undefined,
): Promise<void> {
  const values = {
    ...slotBindings(slot, request.destructiveWipePolicy),
    state: 'available',
    desired_state: 'for_sale',
    vcpu: slot.profile.vcpu,
    memory_gib: slot.profile.memoryGib,
    health_state: 'healthy',
    health_detail: 'Approved from discovery.',
    device_fault: null,
    approved_at: request.now,
  } as const;
  if (slotId) {
    await tx.updateTable('node_resource_slots').set(values).where('id', '=', slotId).execute();
    return;
  }
  await tx
    .insertInto('node_resource_slots')
    .values({ id: newId(), node_id: request.nodeId, slot_index: slot.slot_index, ...values })
    .execute();
}

async function standingSlots(
  tx: Tx,
  nodeId: string,
): Promise<{ settled: Set<number>; disabled: Map<number, string>; held: SliceProfile[] }> {
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'slot_index', 'state', 'desired_state', 'vcpu', 'memory_gib'])
    .where('node_id', '=', nodeId)
    .orderBy('id')
    .forUpdate()
    .execute();
  return {
    // Retiring a slot is a separate decision; approving all candidates does not put it back on sale.
    settled: new Set(
      rows
        .filter((row) => row.state !== 'disabled' || row.desired_state === 'retired')
        .map((row) => row.slot_index),
    ),
    disabled: new Map(rows.filter((row) => row.state === 'disabled').map((row) => [row.slot_index, row.id])),
    held: rows
      .filter((row) => row.state !== 'disabled')
      .map((row) => ({ vcpu: row.vcpu, memoryGib: row.memory_gib })),
  };
}

function missingCandidates(
  { slotIndexes = [] }: ApprovalRequest,
  discovered: readonly CandidateSlot[],
): ApprovalViolation[] {
  return slotIndexes.flatMap((index, position) => {
    if (discovered.some((candidate) => candidate.slot_index === index)) return [];
    const detail = `The discovery has no candidate ${index}.`;
    return [{ pointer: `/slot_indexes/${position}`, code: 'candidate_missing', detail }];
  });
}

/** Candidates of the latest successful discovery. */
export async function latestCandidates(
  tx: Tx,
  nodeId: string,
  discoveryTaskId: string,
): Promise<CandidateSlot[]> {
  return (await latestDiscovered(tx, nodeId, discoveryTaskId)).candidates;
}

/** The named discovery if it succeeded and is the latest. */
export async function latestDiscovered(
  tx: Tx,
  nodeId: string,
  discoveryTaskId: string,
): Promise<TaskOutput['slice.topology_discover']> {
  const task = await findTask(tx, { nodeId, kind: 'slice.topology_discover' }, discoveryTaskId);
  if (task?.state !== 'succeeded') {
    throw new Problem('discovery_not_ready', 'Approve from a successful discovery of this host.');
  }
  const latest = await latestSucceededTask(tx, nodeId, 'slice.topology_discover');
  if (latest && latest.task.id !== discoveryTaskId) {
    throw new Problem(
      'discovery_superseded',
      'A newer discovery of this host exists; approve from that one.',
      {
        extensions: { latest_discovery_task_id: latest.task.id },
      },
    );
  }
  return parseTaskOutput('slice.topology_discover', task.output);
}
