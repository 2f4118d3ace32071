import { Problem } from '../../platform/http/problem.ts';
import { moneyJson, times, type Money } from '../../platform/money.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Placement } from '../placement/place.ts';
import { describeRejections, expectedTime } from './describe-placement.ts';

/** `sku_unavailable`: no single node has room; why, what would fit now, when this may, and its price. */
export function capacityRefusal(
  request: PlacementRequest,
  refusal: Extract<Placement, { fits: false }>,
  perGpuHour: Money,
): Problem {
  const gpus = request.gpus === 1 ? '1 GPU' : `${request.gpus} GPUs`;
  const nearest = refusal.nearest?.gpus ?? null;
  const hint =
    nearest === null
      ? 'Nothing is free in this region right now.'
      : `The largest that fits now has ${nearest}.`;
  return new Problem('sku_unavailable', `No single node can give ${gpus} at the moment. ${hint}`, {
    extensions: {
      requested_gpu_count: request.gpus,
      nearest_gpu_count: nearest,
      expected_at: expectedTime(refusal.expectedAt),
      price: {
        per_gpu_hour: moneyJson(perGpuHour),
        per_hour: moneyJson(times(perGpuHour, request.gpus)),
      },
      reasons: describeRejections(refusal.rejections),
    },
  });
}
