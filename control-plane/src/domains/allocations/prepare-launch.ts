import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { times } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { requireFunds } from '../billing/require-funds.ts';
import { quoteLaunch } from '../catalog/quote.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { keysForLaunch } from '../tenancy/ssh-keys/keys-for-launch.ts';
import { launchRequest } from './launch-request.ts';
import { requireDuration } from './lease-duration.ts';
import type { Launch } from './sell-together.ts';

/**
 * Everything that may refuse a launch but quota and capacity: rights, keys, price, duration, money. What is left is to
 * place and to write it. With `staysOpen` nobody closes the project before the transaction ends; without, the database
 * fails a sale into a closed one.
 */
export async function prepareLaunch(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  caller: Caller,
  request: components['schemas']['CreateAllocation'],
  correlationId: string,
  options: { staysOpen?: boolean } = {},
): Promise<Launch> {
  const project = await findProject(tx, caller, 'allocation.create', request.project_id, options);
  const { id: projectId, organization_id: organizationId } = project;
  const sshKeys = await keysForLaunch(tx, caller, projectId, request.ssh_key_ids ?? []);
  const { sku, image, region, gpu_count } = request;
  const offer = await quoteLaunch(services, tx, { sku, gpuCount: gpu_count, image, region, organizationId });
  requireDuration(services.policies, project, request.max_duration_seconds);
  const perHour = times(offer.perGpuHour, gpu_count);
  await requireFunds(services, tx, { organizationId, projectId, userId: caller.userId, perHour });
  const id = newId();
  return {
    allocation: {
      id,
      organization_id: organizationId,
      project_id: projectId,
      name: request.name ?? `${offer.shape === 'baremetal' ? 'node' : 'slice'}-${id.slice(-6)}`,
      sku: offer.sku,
      capacity_shape: offer.shape,
      gpu_count,
      image,
      image_digest: offer.imageDigest,
      region,
      currency: offer.perGpuHour.currency,
      per_gpu_hour_micros: offer.perGpuHour.micros,
      price_id: offer.priceId,
      created_by: caller.id,
      owner_user_id: caller.userId,
      ssh_authorized_keys: sshKeys,
      correlation_id: correlationId,
    },
    request: launchRequest(services.clock.now(), request, offer, [projectId]),
    offer,
    charge: {
      organizationId,
      projectId,
      launchedBy: caller.id,
      gpuModel: offer.gpuModel,
      gpus: gpu_count,
      perHour,
    },
  };
}
