import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { times } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { quoteLaunch } from '../catalog/quote.ts';
import { requireFunds } from '../billing/require-funds.ts';
import { requireQuota } from '../quotas/require-quota.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { keysForLaunch } from '../tenancy/ssh-keys/keys-for-launch.ts';
import { requireDuration } from './lease-duration.ts';
import type { AllocationRow } from './move-allocation.ts';
import { enterQueue } from './queue/enter-queue.ts';
import { recordSales } from './record-sales.ts';
import { reserveSlots } from './reserve-slots.ts';
import { leaseEnd, launchRequest } from './launch-request.ts';

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
  const offer = await quoteLaunch(services, tx, {
    sku: request.sku,
    gpuCount: request.gpu_count,
    image: request.image,
    region: request.region,
    organizationId: project.organization_id,
  });
  requireDuration(services.policies, project, request.max_duration_seconds);
  const wanted = launchRequest(services.clock.now(), request, offer, [project.id]);
  await requireFunds(services, tx, {
    organizationId: project.organization_id,
    projectId: project.id,
    userId: caller.userId,
    perHour: times(offer.perGpuHour, request.gpu_count),
  });
  const id = newId();
  const launch = {
    id,
    organization_id: project.organization_id,
    project_id: project.id,
    name: request.name ?? `${offer.shape === 'baremetal' ? 'node' : 'slice'}-${id.slice(-6)}`,
    sku: offer.sku,
    capacity_shape: wanted.shape,
    gpu_count: request.gpu_count,
    image: request.image,
    image_digest: offer.imageDigest,
    region: request.region,
    currency: offer.perGpuHour.currency,
    per_gpu_hour_micros: offer.perGpuHour.micros,
    price_id: offer.priceId,
    created_by: caller.id,
    owner_user_id: caller.userId,
    ssh_authorized_keys: sshKeys,
    correlation_id: correlationId,
  };
  return await withRole(tx, 'gpuaas_placement', async () => {
    await requireQuota(services.policies, tx, {
      organizationId: project.organization_id,
      projectId: project.id,
      launchedBy: caller.id,
      gpuModel: offer.gpuModel,
      gpus: request.gpu_count,
      perHour: times(offer.perGpuHour, request.gpu_count),
    });
    const reservation = await reserveSlots(services, tx, wanted, offer).catch((error: unknown) => {
      if (request.when_unavailable === 'queue' && isCapacityRefusal(error)) return null;
      throw error;
    });
    if (!reservation) return await enterQueue(services, tx, launch, request.max_duration_seconds);
    const { nodeId, slotIds } = reservation;
    const sold = { ...launch, node_id: nodeId, ends_at: leaseEnd(wanted) };
    const sale = { allocation: sold, slotIds, gpuModel: offer.gpuModel };
    const { allocations } = await recordSales(services, tx, [sale]);
    return allocations[0]!;
  });
}

function isCapacityRefusal(error: unknown): boolean {
  return error instanceof Problem && error.code === 'sku_unavailable';
}
