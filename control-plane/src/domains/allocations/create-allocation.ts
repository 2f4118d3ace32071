import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { newId } from '../../platform/ids.ts';
import { times } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { quoteSlice } from '../catalog/quote.ts';
import { requireQuota } from '../quotas/require-quota.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { keysForLaunch } from '../tenancy/ssh-keys/keys-for-launch.ts';
import { slotBundles } from '../fleet/slot-bundles.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { emitAllocation } from './allocation-events.ts';
import type { AllocationRow } from './move-allocation.ts';
import { provisionWorkflow, provisionWorkflowId } from './provision.workflow.ts';
import { reserveSlots } from './reserve-slots.ts';
import { leaseEnd, sliceRequest } from './slice-request.ts';

type CreateAllocation = components['schemas']['CreateAllocation'];

/** The launch decision: price, quota, placement, claims, event and workflow commit together or not at all. */
export async function createAllocation(
  services: Services,
  tx: Tx,
  caller: Caller,
  request: CreateAllocation,
  correlationId: string,
): Promise<AllocationRow> {
  const project = await findProject(tx, caller, 'allocation.create', request.project_id, {
    staysOpen: true,
  });
  const sshKeys = await keysForLaunch(tx, caller, project.id, request.ssh_key_ids ?? []);
  const offer = await quoteSlice(tx, {
    sku: request.sku,
    gpuCount: request.gpu_count,
    image: request.image,
    region: request.region,
  });
  const wanted = sliceRequest(services.clock.now(), request, offer);
  const { nodeId, slotIds } = await withRole(tx, 'gpuaas_placement', async () => {
    await requireQuota(services.policies, tx, {
      organizationId: project.organization_id,
      projectId: project.id,
      launchedBy: caller.id,
      gpuModel: offer.gpuModel,
      gpus: request.gpu_count,
      perHour: times(offer.perGpuHour, request.gpu_count),
    });
    return await reserveSlots(services.policies, tx, wanted, offer);
  });
  const id = newId();
  const allocation = await tx
    .insertInto('allocations')
    .values({
      id,
      organization_id: project.organization_id,
      project_id: project.id,
      name: request.name ?? `slice-${id.slice(-6)}`,
      sku: offer.sku,
      capacity_shape: 'gpu_slice',
      gpu_count: request.gpu_count,
      image: request.image,
      image_digest: offer.imageDigest,
      region: request.region,
      state: 'reserved',
      node_id: nodeId,
      ends_at: leaseEnd(wanted),
      currency: offer.perGpuHour.currency,
      per_gpu_hour_micros: offer.perGpuHour.micros,
      price_id: offer.priceId,
      created_by: caller.id,
      owner_user_id: caller.userId,
      ssh_authorized_keys: sshKeys,
      correlation_id: correlationId,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await withRole(tx, 'gpuaas_placement', () => claimSlots(tx, allocation, nodeId, slotIds));
  await emitAllocation(tx, 'allocation.reserved', allocation, {
    stage: 'placement',
    status: 'done',
    message: `${request.gpu_count} × ${offer.gpuModel} reserved on one node`,
    percent: 100,
  });
  await services.workflows.start(tx, provisionWorkflow.name, provisionWorkflowId(id), {
    allocationId: id,
    correlationId,
  });
  return allocation;
}

async function claimSlots(
  tx: Tx,
  allocation: AllocationRow,
  nodeId: string,
  slotIds: string[],
): Promise<void> {
  await moveSlots(tx, slotIds, { to: 'reserved' });
  const bundles = await slotBundles(tx, slotIds);
  await tx
    .insertInto('allocation_resource_claims')
    .values(
      bundles.map((bundle) => ({
        id: newId(),
        allocation_id: allocation.id,
        node_id: nodeId,
        claim_kind: 'slot',
        slot_id: bundle.slot_id,
        ends_at: allocation.ends_at,
        snapshot: JSON.stringify(bundle),
      })),
    )
    .execute();
  await emitSlotsChanged(tx, nodeId, allocation.correlation_id);
}
