import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, permissionsAt, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { cumulativeCost, moneyJson, multiplyMoney } from '../../../platform/money.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { zeroBalanceNotice } from '../../billing/funds/zero-balance-notice.ts';
import { readFunds } from '../../billing/funds/tenant-funds.ts';
import { quoteProduct, type Product } from '../../catalog/quote.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { FleetNode } from '../../fleet/index/placement-candidates.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import { countRejections, ungroupedCandidates } from '../../placement/explain-refusal.ts';
import { nearestNodes } from '../../placement/nearest-nodes.ts';
import { place } from '../../placement/place.ts';
import { explainQuota } from '../../quotas/explain-quota.ts';
import { describeExcess } from '../../quotas/quota-exceeded.ts';
import { findProject, type ProjectRow } from '../../tenancy/projects/find-project.ts';
import { explainFunds } from './explain-funds.ts';
import { describeRejections, formatExpectedTime } from './describe-rejections.ts';
import { toPlacementRequest } from './placement-request.ts';
import { requireAllowedDuration } from '../leases/lease-duration.ts';

type Asked = operations['explainPlacement']['requestBody']['content']['application/json'];
type Explanation = components['schemas']['PlacementExplanation'];

const SHOWN_NODES = 50;

/** Ranks nodes as a launch would, and reserves nothing. */
export async function explainPlacement(
  services: Pick<Services, 'clock' | 'policies'> & WithFleetIndex,
  tx: Tx,
  caller: Caller,
  asked: Asked,
): Promise<Explanation> {
  const project =
    asked.project_id === undefined
      ? null
      : await findProject(tx, caller, 'allocation.create', asked.project_id);
  const offer = await quoteProduct(services, tx, {
    sku: asked.sku,
    gpuCount: asked.gpu_count,
    region: asked.region,
    organizationId: project?.organization_id ?? null,
  });
  if (project) requireAllowedDuration(services.policies, project, asked.max_duration_seconds);
  const fleet = services.fleetIndex;
  await withRole(tx, 'gpuaas_placement', () => fleet.catchUp(tx, [], 'now'));
  const nodes = [...fleet.nodes];
  const request = toPlacementRequest(services.clock.now(), asked, offer, project ? [project.id] : []);
  const placement = place(request, nodes, offer.allowedGpuCounts);
  const requested = { capacity_shape: request.shape, gpu_count: request.gpus };
  const nearest = placement.fits ? request : placement.nearest;
  const perHour = multiplyMoney(offer.perGpuHour, request.gpus);
  const seconds = asked.max_duration_seconds;
  const seesFleet = permissionsAt(caller.bindings, atPlatform).has('fleet.read');
  return {
    fits: placement.fits,
    requested,
    reasons: describeRejections(countRejections(request, ungroupedCandidates(nodes))),
    nearest: nearest && { capacity_shape: nearest.shape, gpu_count: nearest.gpus },
    expected_at: formatExpectedTime(placement.fits ? request.now : placement.expectedAt),
    price: {
      per_gpu_hour: moneyJson(offer.perGpuHour),
      per_hour: moneyJson(perHour),
      for_max_duration: seconds === undefined ? null : moneyJson(cumulativeCost(perHour, BigInt(seconds))),
    },
    at_zero: project && (await atZero(services, tx, project.organization_id)),
    quota:
      project && (await describeQuota(services.policies, tx, { offer, caller, project, gpus: request.gpus })),
    funds: project && (await explainFunds(services, tx, { caller, project, offer, perHour })),
    nodes: seesFleet ? describeNodes(request, nodes) : null,
  };
}

async function atZero(
  { policies, clock }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  organizationId: string,
): Promise<string> {
  const funds = await readFunds(tx, clock.now(), organizationId);
  const paid = funds.some((one) => one.paid);
  return zeroBalanceNotice(policies, organizationId, paid);
}

async function describeQuota(
  policies: Policies,
  tx: Tx,
  launch: { offer: Product; caller: Caller; project: ProjectRow; gpus: number },
): Promise<Explanation['quota']> {
  const { offer, caller, project, gpus } = launch;
  const exceeded = await explainQuota(policies, tx, {
    organizationId: project.organization_id,
    projectId: project.id,
    launchedBy: caller.id,
    ownerUserId: caller.ownerUserId,
    gpuModel: offer.gpuModel,
    gpus,
    perHour: multiplyMoney(offer.perGpuHour, gpus),
  });
  return { allows: exceeded.length === 0, exceeded: exceeded.map(describeExcess) };
}

function describeNodes(request: PlacementRequest, nodes: FleetNode[]): NonNullable<Explanation['nodes']> {
  return nearestNodes(request, nodes, SHOWN_NODES).map(({ node, rejectedBy, scores }) => ({
    node_id: node.nodeId,
    hostname: node.hostname,
    free_gpus: node.room.free,
    rejected_by: rejectedBy,
    scores: scores.map(({ score, value }) => ({ score, value: Number.isFinite(value) ? value : null })),
  }));
}
