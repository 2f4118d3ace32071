import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { newId } from '../../../platform/ids.ts';
import { multiplyMoney } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { refuseExhaustedBudgets } from '../../billing/budgets/require-budgets.ts';
import { lockCommitments, type FundsCheck } from '../../billing/funds/commitments.ts';
import { refuseUnfunded } from '../../billing/funds/require-funds.ts';
import { quoteFromSnapshot, type Offer } from '../../catalog/quote.ts';
import { requireExpectedPrice } from '../../catalog/prices/expected-price.ts';
import { keepProjectsOpen, requireProject } from '../../tenancy/projects/find-project.ts';
import { selectKeys } from '../../tenancy/ssh-keys/select-keys.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { requireAllowedDuration } from '../leases/lease-duration.ts';
import { checkUserData } from '../user-data/check-user-data.ts';
import type { LaunchRequest, PreparedLaunch } from './launch.ts';
import { readLaunchFacts, withCommitments, type LaunchFacts } from './launch-facts.ts';
import { toPlacementRequest } from './placement-request.ts';

type Sources = Pick<Services, 'clock' | 'policies' | 'sealer'>;

/**
 * Facts of launches that the caller's transaction decides. Until it ends, no other transaction closes their
 * projects or decides about their tenants' funds.
 */
export async function lockLaunchFacts(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  launches: readonly LaunchRequest[],
): Promise<LaunchFacts[]> {
  const organizationIds = await keepProjectsOpen(
    tx,
    launches.map(({ request }) => request.project_id),
  );
  const commitments = await lockCommitments(tx, organizationIds);
  const unkeyed = launches.map((launch) => ({ ...launch, idempotencyKey: null }));
  const facts = await withRole(tx, 'gpuaas_placement', () => readLaunchFacts(tx, unkeyed, clock.now()));
  return facts.map((one) => withCommitments(one, commitments));
}

/**
 * Refuses a launch for everything except quota and capacity: permissions, keys, price, duration, funds. A batch reads
 * its facts without locks: the write then fails for a closed project and counts concurrent launches.
 */
export function prepareLaunch(services: Sources, launch: LaunchRequest, facts: LaunchFacts): PreparedLaunch {
  const { caller, request } = launch;
  const project = requireProject(caller, 'allocation.create', facts.project);
  const { organization_id: organizationId } = project;
  const sshKeys = selectKeys(request.ssh_key_ids ?? [], facts.sshKeys);
  const { sku, image, region, gpu_count } = request;
  const asked = { sku, gpuCount: gpu_count, image, region, organizationId };
  const offer = quoteFromSnapshot(services.policies, asked, facts.shelf, facts.at);
  requireAllowedDuration(services.policies, project, request.max_duration_seconds);
  requireExpectedPrice(request.expected_price_per_gpu_hour, offer.perGpuHour);
  const perHour = multiplyMoney(offer.perGpuHour, gpu_count);
  refuseExhaustedBudgets(facts.budgets, perHour.currency);
  const funds = refuseUnfunded(
    services.policies,
    { organizationId, projectId: project.id, perHour },
    facts.funds,
    facts.funds.find(({ currency }) => currency === perHour.currency),
  );
  return toPreparedLaunch(services, launch, project, { sshKeys, offer, funds });
}

function toPreparedLaunch(
  services: Sources,
  { caller, request, correlationId }: LaunchRequest,
  { id: projectId, organization_id: organizationId }: { id: string; organization_id: string },
  { sshKeys, offer, funds }: { sshKeys: string[]; offer: Offer; funds: FundsCheck },
): PreparedLaunch {
  const { image, region, gpu_count, user_data: userData } = request;
  if (userData !== undefined) checkUserData(userData, offer.shape);
  const perHour = multiplyMoney(offer.perGpuHour, gpu_count);
  const id = newId();
  return {
    allocation: {
      id,
      organization_id: organizationId,
      project_id: projectId,
      name: request.name ?? `${shapeOf({ capacity_shape: offer.shape }).namePrefix}-${id.slice(-6)}`,
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
      owner_user_id: caller.ownerUserId,
      ssh_authorized_keys: sshKeys,
      tags: (request.tags ?? []).toSorted(),
      correlation_id: correlationId,
    },
    request: toPlacementRequest(services.clock.now(), request, offer, [projectId]),
    offer,
    funds,
    whenUnavailable: request.when_unavailable ?? 'fail',
    userData: userData === undefined ? null : services.sealer.seal('user_data', userData, id),
    charge: {
      organizationId,
      projectId,
      launchedBy: caller.id,
      ownerUserId: caller.ownerUserId,
      gpuModel: offer.gpuModel,
      gpus: gpu_count,
      perHour,
    },
  };
}
