import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { times } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { refuseUsedUp } from '../billing/budgets/require-budgets.ts';
import type { LaunchFunds } from '../billing/launches-on-their-way.ts';
import { refuseUncovered, requireFunds } from '../billing/require-funds.ts';
import { offerFrom, quoteLaunch, type Offer } from '../catalog/quote.ts';
import { findProject, requireProject } from '../tenancy/projects/find-project.ts';
import { chooseKeys, keysForLaunch } from '../tenancy/ssh-keys/keys-for-launch.ts';
import type { Ask, LaunchFacts } from './launch-facts.ts';
import { launchRequest } from './launch-request.ts';
import { requireDuration } from './lease-duration.ts';
import type { Launch } from './sell-together.ts';
import { checkUserData } from './user-data/check-user-data.ts';

type Sources = Pick<Services, 'clock' | 'policies' | 'sealer'>;

/**
 * Everything that may refuse a launch but quota and capacity: rights, keys, price, duration, money. What is left is to
 * place and to write it. Nobody closes the project or decides about its tenant's money before the transaction ends.
 */
export async function prepareLaunch(
  services: Sources,
  tx: Tx,
  caller: Caller,
  request: components['schemas']['CreateAllocation'],
  correlationId: string,
): Promise<Launch> {
  const project = await findProject(tx, caller, 'allocation.create', request.project_id, { staysOpen: true });
  const { id: projectId, organization_id: organizationId } = project;
  const sshKeys = await keysForLaunch(tx, caller, projectId, request.ssh_key_ids ?? []);
  const { sku, image, region, gpu_count } = request;
  const offer = await quoteLaunch(services, tx, { sku, gpuCount: gpu_count, image, region, organizationId });
  requireDuration(services.policies, project, request.max_duration_seconds);
  const perHour = times(offer.perGpuHour, gpu_count);
  const funds = await requireFunds(services, tx, {
    organizationId,
    projectId,
    userId: caller.userId,
    perHour,
  });
  return launchOf(services, { caller, request, correlationId }, project, { sshKeys, offer, funds });
}

/**
 * The same of what was looked up for many. The database fails a sale into a project that was closed since, and the sale
 * counts launches on their way.
 */
export function prepareFrom(services: Sources, ask: Ask, facts: LaunchFacts): Launch {
  const { caller, request } = ask;
  const project = requireProject(caller, 'allocation.create', facts.project);
  const { organization_id: organizationId } = project;
  const sshKeys = chooseKeys(request.ssh_key_ids ?? [], facts.sshKeys);
  const { sku, image, region, gpu_count } = request;
  const asked = { sku, gpuCount: gpu_count, image, region, organizationId };
  const offer = offerFrom(services.policies, asked, facts.shelf, facts.at);
  requireDuration(services.policies, project, request.max_duration_seconds);
  const perHour = times(offer.perGpuHour, gpu_count);
  refuseUsedUp(facts.budgets, perHour.currency);
  const funds = refuseUncovered(services.policies, { organizationId, perHour }, facts.funds);
  return launchOf(services, ask, project, { sshKeys, offer, funds });
}

function launchOf(
  services: Sources,
  { caller, request, correlationId }: Pick<Ask, 'caller' | 'request' | 'correlationId'>,
  { id: projectId, organization_id: organizationId }: { id: string; organization_id: string },
  { sshKeys, offer, funds }: { sshKeys: string[]; offer: Offer; funds: LaunchFunds },
): Launch {
  const { image, region, gpu_count, user_data: userData } = request;
  if (userData !== undefined) checkUserData(userData, offer.shape);
  const perHour = times(offer.perGpuHour, gpu_count);
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
      tags: (request.tags ?? []).toSorted(),
      correlation_id: correlationId,
    },
    request: launchRequest(services.clock.now(), request, offer, [projectId]),
    offer,
    funds,
    queues: request.when_unavailable === 'queue',
    userData: userData === undefined ? null : services.sealer.seal(userData, id),
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
