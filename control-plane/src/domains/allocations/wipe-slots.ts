import { parseTaskOutput, type TaskOutput } from '@gpuaas/contracts/tasks';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { step } from '../../platform/workflows/definition.ts';
import { runTask } from '../fleet/run-task.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { issueCertificates } from './certificates/issue-certificates.ts';
import { claimedSlots, releaseClaim } from './claims.ts';

type Wipe = TaskOutput['slice.vm_release']['wipes'][number];

/**
 * Inside a workflow: has the host remove the machine and wipe every slot the allocation still holds, as often
 * as the policy says. Slots come back only with a verified wipe. True when all of them did.
 */
export async function wipeSlots(
  services: Services,
  allocationId: string,
  workflowId: string,
): Promise<boolean> {
  const prefix = workflowId.split(':')[0];
  // Kept with the workflow: a run that is resumed must not count by another number than it began with.
  const attempts = await step(`${prefix}.wipe.attempts`, async () =>
    services.policies.get('allocations.wipe_attempts'),
  );
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const name = `${prefix}.wipe${attempt}`;
    const deadlineSeconds = services.policies.get('allocations.wipe_deadline_seconds');
    const result = await runTask(services, name, deadlineSeconds, () =>
      releaseTask(services, allocationId, workflowId, attempt),
    );
    const left = await step(`${name}.record`, () =>
      recordWipes(services, allocationId, result.taskId, wipesOf(result.output)),
    );
    if (left === 0) return true;
  }
  await step(`${prefix}.wipe.blocked`, () => reportBlocked(services, allocationId, attempts));
  return false;
}

/** How long all attempts together may take. */
export function wipeDeadline(policies: Policies): number {
  return policies.get('allocations.wipe_attempts') * policies.get('allocations.wipe_deadline_seconds');
}

/** Nothing tries again by itself from here; an operator must. */
async function reportBlocked(services: Services, allocationId: string, attempts: number): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    for (const slot of await claimedSlots(tx, allocationId)) {
      await openIncident(tx, services.clock.now(), {
        type: 'slot_cleanup_blocked',
        targetType: 'slot',
        targetId: slot.slot_id,
        summary: `Slot ${slot.slot_index} is quarantined: ${attempts} wipes gave no proof.`,
        detail: { allocation_id: allocationId, nvme_serial: slot.nvme_serial },
      });
    }
  });
}

async function releaseTask(services: Services, allocationId: string, workflowId: string, attempt: number) {
  const { db } = services;
  const allocation = await db
    .selectFrom('allocations')
    .select(['node_id', 'correlation_id', 'organization_id', 'project_id'])
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  const slots = await claimedSlots(db, allocationId);
  return {
    nodeId: allocation.node_id!,
    kind: 'slice.vm_release' as const,
    params: {
      allocation_id: allocationId,
      slots,
      wipe_method: await wipeMethod(services, slots[0]!.slot_id),
      stop_timeout_seconds: services.policies.get('allocations.stop_timeout_seconds', {
        organizationId: allocation.organization_id,
        projectId: allocation.project_id,
      }),
    },
    correlationId: allocation.correlation_id,
    allocationId,
    workflowId,
    dedupeKey: `${workflowId}:wipe:${attempt}`,
  };
}

async function wipeMethod(services: Services, slotId: string): Promise<'blkdiscard' | 'nvme_format'> {
  const row = await services.db
    .selectFrom('node_resource_slots')
    .select('capacity_metadata')
    .where('id', '=', slotId)
    .executeTakeFirstOrThrow();
  const metadata = row.capacity_metadata as { destructive_wipe_policy: 'blkdiscard' | 'nvme_format' };
  return metadata.destructive_wipe_policy;
}

/** A failed task may still carry evidence; what does not parse proves nothing. */
function wipesOf(output: unknown): Wipe[] {
  try {
    const { vm_absent, wipes } = parseTaskOutput('slice.vm_release', output);
    return vm_absent ? wipes : wipes.map((wipe) => ({ ...wipe, verified: false }));
  } catch {
    return [];
  }
}

/** Keeps the evidence and gives back what is proven clean. Returns how many slots are still held. */
async function recordWipes(
  services: Services,
  allocationId: string,
  taskId: string,
  wipes: Wipe[],
): Promise<number> {
  return await services.db.transaction().execute(async (tx) => {
    const held = await claimedSlots(tx, allocationId);
    const recorded: string[] = [];
    for (const slot of held) {
      const wipe = wipes.find((candidate) => candidate.slot_id === slot.slot_id);
      const proven = wipe !== undefined && wipe.verified && wipe.device_serial === slot.nvme_serial;
      const certificateId =
        wipe && (await insertCertificate(tx, allocationId, slot.slot_index, taskId, wipe, proven));
      if (certificateId) recorded.push(certificateId);
      if (proven) {
        await releaseClaim(tx, allocationId, slot.slot_id, services.clock.now());
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
    const allocation = await tx
      .selectFrom('allocations')
      .select(['node_id', 'correlation_id'])
      .where('id', '=', allocationId)
      .executeTakeFirstOrThrow();
    if (held.length > 0) await emitSlotsChanged(tx, allocation.node_id!, allocation.correlation_id);
    const left = (await claimedSlots(tx, allocationId)).length;
    await issueCertificates(services, tx, recorded);
    return left;
  });
}

async function insertCertificate(
  tx: Tx,
  allocationId: string,
  slotIndex: number,
  taskId: string,
  wipe: Wipe,
  verified: boolean,
): Promise<string> {
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
