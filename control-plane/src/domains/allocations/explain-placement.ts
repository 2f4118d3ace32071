import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { cumulativeCost, moneyJson, times } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { priceSlice } from '../catalog/quote.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { FleetNode } from '../fleet/placement-candidates.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import { countRejections, eachAlone } from '../placement/explain-refusal.ts';
import { nearestNodes } from '../placement/nearest-nodes.ts';
import { place } from '../placement/place.ts';
import { describeRejections, expectedTime } from './describe-placement.ts';
import { sliceRequest } from './slice-request.ts';

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
  const offer = await priceSlice(tx, { sku: asked.sku, gpuCount: asked.gpu_count, region: asked.region });
  const fleet = fleetIndexOf(services);
  await withRole(tx, 'gpuaas_placement', () => fleet.catchUp(tx, [], 'now'));
  const nodes = [...fleet.nodes];
  const request = sliceRequest(services.clock.now(), asked, offer);
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
    nodes: seesFleet ? describeNodes(request, nodes) : null,
  };
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
