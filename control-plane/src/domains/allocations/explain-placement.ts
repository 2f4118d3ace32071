import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { cumulativeCost, moneyJson, times } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { atZero } from '../billing/at-zero.ts';
import { quoteProduct, type Product } from '../catalog/quote.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { FleetNode } from '../fleet/placement-candidates.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import { countRejections, eachAlone } from '../placement/explain-refusal.ts';
import { nearestNodes } from '../placement/nearest-nodes.ts';
import { place } from '../placement/place.ts';
import { explainQuota } from '../quotas/explain-quota.ts';
import { describeExcess } from '../quotas/quota-exceeded.ts';
import { findProject, type ProjectRow } from '../tenancy/projects/find-project.ts';
import { describeRejections, expectedTime } from './describe-placement.ts';
import { launchRequest } from './launch-request.ts';
import { requireDuration } from './lease-duration.ts';

type Asked = operations['explainPlacement']['requestBody']['content']['application/json'];
type Explanation = components['schemas']['PlacementExplanation'];

const SHOWN_NODES = 50;

/** A launch on paper: the same ranking, and nothing is taken. */
export async function explainPlacement(
  services: Pick<Services, 'clock' | 'policies'>,
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
  if (project) requireDuration(services.policies, project, asked.max_duration_seconds);
  const fleet = fleetIndexOf(services);
  await withRole(tx, 'gpuaas_placement', () => fleet.catchUp(tx, [], 'now'));
  const nodes = [...fleet.nodes];
  const request = launchRequest(services.clock.now(), asked, offer, project ? [project.id] : []);
  const placement = place(request, nodes, offer.allowedGpuCounts);
  const requested = { capacity_shape: request.shape, gpu_count: request.gpus };
  const nearest = placement.fits ? request : placement.nearest;
  const perHour = times(offer.perGpuHour, request.gpus);
  const seconds = asked.max_duration_seconds;
  const seesFleet = permissionsAt(caller.bindings, { kind: 'platform' }).has('fleet.read');
  return {
    fits: placement.fits,
    requested,
    reasons: describeRejections(countRejections(request, eachAlone(nodes))),
    nearest: nearest && { capacity_shape: nearest.shape, gpu_count: nearest.gpus },
    expected_at: expectedTime(placement.fits ? request.now : placement.expectedAt),
    price: {
      per_gpu_hour: moneyJson(offer.perGpuHour),
      per_hour: moneyJson(perHour),
      for_max_duration: seconds === undefined ? null : moneyJson(cumulativeCost(perHour, BigInt(seconds))),
    },
    at_zero: project && atZero(services.policies, project.organization_id),
    quota:
      project && (await describeQuota(services.policies, tx, { offer, caller, project, gpus: request.gpus })),
    nodes: seesFleet ? describeNodes(request, nodes) : null,
  };
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
    gpuModel: offer.gpuModel,
    gpus,
    perHour: times(offer.perGpuHour, gpus),
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
