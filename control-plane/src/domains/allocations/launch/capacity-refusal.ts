import { Problem } from '../../../platform/http/problem.ts';
import { moneyJson, multiplyMoney, type Money } from '../../../platform/money.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import type { Placement } from '../../placement/place.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { describeRejections, formatExpectedTime } from './describe-rejections.ts';

/**
 * `sku_unavailable`: no single node has capacity. Gives the reasons, what fits now, when this size may fit,
 * and its price.
 */
export function capacityRefusal(
  request: PlacementRequest,
  refusal: Extract<Placement, { fits: false }>,
  perGpuHour: Money,
): Problem {
  const nearest = refusal.nearest?.gpus ?? null;
  return new Problem('sku_unavailable', detailOf(request, nearest), {
    extensions: {
      requested_gpu_count: request.gpus,
      nearest_gpu_count: nearest,
      expected_at: formatExpectedTime(refusal.expectedAt),
      price: {
        per_gpu_hour: moneyJson(perGpuHour),
        per_hour: moneyJson(multiplyMoney(perGpuHour, request.gpus)),
      },
      reasons: describeRejections(refusal.rejections),
    },
  });
}

function detailOf({ shape, gpus: asked }: PlacementRequest, nearest: number | null): string {
  const gpus = asked === 1 ? '1 GPU' : `${asked} GPUs`;
  const largest = nearest === null ? null : `The largest size that fits now is ${nearest}.`;
  return shapeOf({ capacity_shape: shape }).noRoom(gpus, largest);
}
