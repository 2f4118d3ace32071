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
  const nearest = refusal.nearest?.gpus ?? null;
  return new Problem('sku_unavailable', detailOf(request, nearest), {
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

function detailOf({ shape, gpus: asked }: PlacementRequest, nearest: number | null): string {
  const gpus = asked === 1 ? '1 GPU' : `${asked} GPUs`;
  const largest = nearest === null ? null : `The largest that fits now has ${nearest}.`;
  // Of whole nodes there is mostly one size, and slices may well be free: nothing is said of either.
  return shape === 'baremetal'
    ? [`No whole node with ${gpus} can be had at the moment.`, largest].filter(Boolean).join(' ')
    : `No single node can give ${gpus} at the moment. ${largest ?? 'Nothing is free in this region right now.'}`;
}
