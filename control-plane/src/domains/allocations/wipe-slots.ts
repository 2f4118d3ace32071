import { parseTaskOutput, type SlotBundle, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emitAll } from '../../platform/events/emit.ts';
import type { Services } from '../../platform/services.ts';
import type { TaskOutcome } from '../fleet/complete-task.ts';
import { moveEachSlot, slotsChanged } from '../fleet/slot-states.ts';
import { openIncident, resolveIncidents } from '../incidents/open-incident.ts';
import { issueCertificates } from './certificates/issue-certificates.ts';
import { claimedSlots, claimedSlotsOf, releaseClaims } from './claims.ts';
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
  const methods = await wipeMethods(tx, slots);
  return {
    kind: 'slice.vm_release' as const,
    params: {
      allocation_id: allocation.id,
      slots,
      wipe_method: methods[slots[0]!.slot_id]!,
      ...(new Set(Object.values(methods)).size > 1 ? { wipe_methods: methods } : {}),
      stop_timeout_seconds: services.policies.get('allocations.stop_timeout_seconds', {
        organizationId: allocation.organization_id,
        projectId: allocation.project_id,
      }),
    },
  };
}

/** The policy of each slot, by its id: a machine of several slots may have disks of several kinds. */
async function wipeMethods(tx: Tx, slots: readonly SlotBundle[]): Promise<Record<string, WipeMethod>> {
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'capacity_metadata'])
    .where(
      'id',
      'in',
      slots.map(({ slot_id }) => slot_id),
    )
    .execute();
  return Object.fromEntries(
    rows.map(({ id, capacity_metadata }) => {
      const metadata = capacity_metadata as { destructive_wipe_policy: WipeMethod };
      return [id, metadata.destructive_wipe_policy];
    }),
  );
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

/** What a host brought back about the slots of an allocation. */
export interface WipeEvidence {
  allocation: AllocationRow;
  result: TaskOutcome & { taskId: string };
}

/**
 * Keeps the evidence and gives back what is proven clean: one statement of each kind, however many allocations and slots
 * there are.
 */
export async function recordWipes(
  services: Services,
  tx: Tx,
  evidence: readonly WipeEvidence[],
): Promise<void> {
  if (evidence.length === 0) return;
  const now = services.clock.now();
  const held = await claimedSlotsOf(
    tx,
    evidence.map(({ allocation }) => allocation.id),
  );
  const looked = evidence.flatMap((one) =>
    (held.get(one.allocation.id) ?? []).map((slot) => judge(one, slot)),
  );
  const certificates = await keepCertificates(tx, looked);
  const proven = looked.filter((slot) => slot.proven);
  await releaseClaims(tx, proven, now);
  await moveEachSlot(
    tx,
    looked.map((slot) =>
      slot.proven
        ? {
            slotId: slot.slotId,
            to: 'available',
            health: { state: 'healthy', detail: slot.detail },
            lastWipeId: certificates.get(certificateKey(slot))!,
          }
        : {
            slotId: slot.slotId,
            to: 'cleanup_blocked',
            health: { state: 'unhealthy', detail: slot.detail.slice(0, 500) },
          },
    ),
  );
  await resolveIncidents(
    tx,
    now,
    proven.map(({ slotId, detail }) => ({
      incident: { type: 'slot_cleanup_blocked', targetId: slotId },
      resolution: detail,
    })),
  );
  const nodes = new Map(looked.map(({ allocation }) => [allocation.node_id!, allocation.correlation_id]));
  if (nodes.size > 0)
    await emitAll(
      tx,
      Array.from(nodes, ([id, correlation]) => slotsChanged(id, correlation)),
    );
  await issueCertificates(services, tx, [...certificates.values()]);
}

interface JudgedSlot {
  allocation: AllocationRow;
  allocationId: string;
  slotId: string;
  slotIndex: number;
  taskId: string;
  wipe: Wipe | undefined;
  proven: boolean;
  detail: string;
}

/** Only a verified wipe of the very disk that was sold proves anything. */
function judge({ allocation, result }: WipeEvidence, slot: SlotBundle): JudgedSlot {
  const wipe = wipesOf(result.output).find((candidate) => candidate.slot_id === slot.slot_id);
  const proven = wipe !== undefined && wipe.verified && wipe.device_serial === slot.nvme_serial;
  const refusal = result.error ? `The host gave no proof of a wipe: ${result.error.detail}` : null;
  const unproven = wipe
    ? `Wipe not verified: ${wipe.verification}`
    : (refusal ?? 'The host gave no proof of a wipe.');
  return {
    allocation,
    allocationId: allocation.id,
    slotId: slot.slot_id,
    slotIndex: slot.slot_index,
    taskId: result.taskId,
    wipe,
    proven,
    detail: proven ? `Wiped by ${wipe.method} and verified.` : unproven,
  };
}

function certificateKey({ taskId, slotId }: Pick<JudgedSlot, 'taskId' | 'slotId'>): string {
  return `${taskId} ${slotId}`;
}

/** A step that runs twice brings the same evidence twice; the first certificate stands. */
async function keepCertificates(tx: Tx, looked: readonly JudgedSlot[]): Promise<Map<string, string>> {
  const rows = looked.flatMap(({ allocationId, slotId, slotIndex, taskId, wipe, proven }) =>
    wipe
      ? {
          id: newId(),
          allocation_id: allocationId,
          slot_id: slotId,
          slot_index: slotIndex,
          node_task_id: taskId,
          device_serial: wipe.device_serial,
          method: wipe.method,
          verified: proven,
          verification: wipe.verification,
          tools: JSON.stringify(wipe.tools ?? []),
          started_at: wipe.started_at,
          finished_at: wipe.finished_at,
        }
      : [],
  );
  if (rows.length === 0) return new Map();
  await tx
    .insertInto('wipe_certificates')
    .values(rows)
    .onConflict((c) => c.columns(['node_task_id', 'slot_id']).doNothing())
    .execute();
  const kept = await tx
    .selectFrom('wipe_certificates')
    .select(['id', 'node_task_id', 'slot_id'])
    .where('node_task_id', 'in', [...new Set(rows.map(({ node_task_id }) => node_task_id))])
    .execute();
  const keys = new Set(rows.map((row) => certificateKey({ taskId: row.node_task_id, slotId: row.slot_id })));
  const found = kept.map(
    (row) => [certificateKey({ taskId: row.node_task_id!, slotId: row.slot_id }), row.id] as const,
  );
  return new Map(found.filter(([key]) => keys.has(key)));
}
