import { Problem } from '../../platform/http/problem.ts';

/** A slice must fit its node, and a whole node is leased whole. */
export function requireValidGpuCounts(product: {
  capacity_shape: string;
  gpus_total: number;
  allowed_gpu_counts: readonly number[];
}): void {
  const { capacity_shape, gpus_total, allowed_gpu_counts } = product;
  const fits =
    capacity_shape === 'baremetal'
      ? allowed_gpu_counts.length === 1 && allowed_gpu_counts[0] === gpus_total
      : allowed_gpu_counts.every((count) => count <= gpus_total);
  if (fits) return;
  const detail =
    capacity_shape === 'baremetal'
      ? `a whole node is sold with all of its ${gpus_total} GPUs`
      : `a node has ${gpus_total} GPUs`;
  throw new Problem('sku_invalid', `The allowed GPU counts do not fit: ${detail}.`, {
    errors: [{ pointer: '/allowed_gpu_counts', detail }],
  });
}
