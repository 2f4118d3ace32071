import { parseTaskOutput, type SlotBundle, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { newId } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emitAll } from '../../../platform/events/emit.ts';
import type { Services } from '../../../platform/services.ts';
import type { TaskOutcome } from '../../tasks/complete-task.ts';
import { serialKey } from '../../fleet/disks/serial-key.ts';
import { transitionEachSlot, slotsChanged } from '../../fleet/slots/transition-slots.ts';
import { openIncident, resolveIncidents } from '../../incidents/open-incident.ts';
import { issueCertificates } from '../certificates/issue-certificates.ts';
import { claimedSlots, claimedSlotsByAllocation, releaseClaims } from '../claims.ts';
import type { WipeScope } from './decide-cleanup.ts';
import { type AllocationRow, hostOf } from '../transition-allocation.ts';
import { first, get } from '../../../platform/present.ts';

type Wipe = TaskOutput['slice.vm_release']['wipes'][number];
type WipeMethod = TaskParams['slice.vm_release']['wipe_method'];

/** Only an operator leads out of here. */
export async function reportBlockedSlots(
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
      summary:
        attempts === 0
          ? `Slot ${slot.slot_index} is quarantined after a failed launch; an operator must confirm its wipe.`
          : `Slot ${slot.slot_index} is quarantined: ${attempts} wipes gave no proof.`,
      detail: { allocation_id: allocationId, nvme_serial: slot.nvme_serial },
    });
  }
}

/** The task at the end of a slice: remove the machine and wipe every slot it still holds. */
export async function buildReleaseTask(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  scope: WipeScope,
) {
  const slots = await claimedSlots(tx, allocation.id);
  const methods = await wipeMethods(tx, slots);
  const place = { organizationId: allocation.organization_id, projectId: allocation.project_id };
  const isFull = services.policies.get('allocations.wipe_verification', place) === 'full';
  return {
    kind: 'slice.vm_release' as const,
    params: {
      allocation_id: allocation.id,
      slots,
      wipe_method: methods[first(slots, 'slot').slot_id]!,
      ...(new Set(Object.values(methods)).size > 1 ? { wipe_methods: methods } : {}),
      // Agents of older releases do not know the word.
      ...(scope === 'own_data' ? {} : { wipe_scope: scope }),
      ...(isFull ? { verification: 'full' as const } : {}),
      stop_timeout_seconds: services.policies.get('allocations.stop_timeout_seconds', place),
    },
  };
}

/** Wipe policy by slot id: a machine of several slots may have disks of several kinds. */
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

/** A failed task may still carry evidence; unparsable output proves nothing. */
function wipesOf(output: unknown): Wipe[] {
  try {
    const { vm_absent, network_clean, wipes } = parseTaskOutput('slice.vm_release', output);
    const absent = vm_absent && network_clean;
    return absent ? wipes : wipes.map((wipe) => ({ ...wipe, verified: false }));
  } catch {
    return [];
  }
}

/** A host's evidence about the slots of an allocation. */
export interface WipeEvidence {
  allocation: AllocationRow;
  result: TaskOutcome & { taskId: string };
}

/**
 * Stores the evidence and releases slots that are proven clean, with one statement of each kind for any
 * number of allocations and slots.
 */
export async function recordWipes(
  services: Services,
  tx: Tx,
  evidence: readonly WipeEvidence[],
): Promise<void> {
  if (evidence.length === 0) return;
  const now = services.clock.now();
  const held = await claimedSlotsByAllocation(
    tx,
    evidence.map(({ allocation }) => allocation.id),
  );
  const looked = evidence.flatMap((one) =>
    (held.get(one.allocation.id) ?? []).map((slot) => judge(one, slot)),
  );
  const certificates = await keepCertificates(tx, looked);
  const proven = looked.filter((slot) => slot.proven);
  await releaseClaims(tx, proven, now);
  await transitionEachSlot(
    tx,
    looked.map((slot) =>
      slot.proven
        ? {
            slotId: slot.slotId,
            to: 'available',
            health: { state: 'healthy', detail: slot.detail },
            lastWipeId: get(certificates, certificateKey(slot), 'certificate'),
          }
        : // The workflow decides whether another attempt follows or an operator must act.
          {
            slotId: slot.slotId,
            to: 'unchanged',
            ...(slot.detail && { health: { state: 'unhealthy', detail: slot.detail.slice(0, 500) } }),
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
  const nodes = new Map(looked.map(({ allocation }) => [hostOf(allocation), allocation.correlation_id]));
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
  /** Empty if no wipe was asked for: the slot keeps the reason of the failed launch. */
  detail: string;
}

/** Only a verified wipe of the disk that was leased is proof. */
function judge({ allocation, result }: WipeEvidence, slot: SlotBundle): JudgedSlot {
  const wipe = wipesOf(result.output).find((candidate) => candidate.slot_id === slot.slot_id);
  const proven =
    wipe !== undefined && wipe.verified && serialKey(wipe.device_serial) === serialKey(slot.nvme_serial);
  const refusal = result.error ? `The host gave no proof of a wipe: ${result.error.detail}` : null;
  const unproven = wipe ? `Wipe not verified: ${wipe.verification}` : (refusal ?? '');
  return {
    allocation,
    allocationId: allocation.id,
    slotId: slot.slot_id,
    slotIndex: slot.slot_index,
    taskId: result.taskId,
    wipe,
    proven,
    detail: proven ? describeProof(wipe) : unproven,
  };
}

function describeProof({ method, verification }: Wipe): string {
  return method === 'none'
    ? `Not written by the lease: ${verification}`.slice(0, 500)
    : `Wiped by ${method} and verified.`;
}

function certificateKey({ taskId, slotId }: Pick<JudgedSlot, 'taskId' | 'slotId'>): string {
  return `${taskId} ${slotId}`;
}

/** A step that runs twice delivers its evidence twice; the first certificate counts. */
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
