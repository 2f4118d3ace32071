import type { Product } from '../../catalog/quote.ts';
import { OPEN_ENDED, type PlacementRequest } from '../../placement/candidate.ts';

/** Requirements of a launch on placement; times are in milliseconds. */
export function toPlacementRequest(
  now: Date,
  asked: { region: string; gpu_count: number; max_duration_seconds?: number },
  product: Pick<Product, 'gpuModel' | 'shape'>,
  holders: readonly string[] = [],
): PlacementRequest {
  const { max_duration_seconds: seconds } = asked;
  return {
    shape: product.shape,
    gpus: asked.gpu_count,
    region: asked.region,
    gpuModel: product.gpuModel,
    now: now.getTime(),
    endsAt: seconds === undefined ? OPEN_ENDED : now.getTime() + seconds * 1000,
    holders,
  };
}

export function leaseEnd({ endsAt }: PlacementRequest): Date | null {
  return endsAt === OPEN_ENDED ? null : new Date(endsAt);
}
