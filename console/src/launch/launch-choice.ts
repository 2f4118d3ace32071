import type { Image, Money, Region, Sku } from '../api/types.ts';
import type { LaunchSearch } from '../search-params.ts';

export interface Catalog {
  skus: Sku[];
  regions: Region[];
  images: Image[];
}

export type Shape = Sku['capacity_shape'];

export interface LaunchChoice {
  sku: Sku;
  region: string | null;
  image: Image;
  gpus: number;
  /** GPUs that fit on one node of the region now. */
  largestSlice: number;
  gpusAvailable: number;
  /** Price of a GPU hour in the region. */
  perGpuHour: Money;
}

/** The choice in the URL, completed with the first available options. */
export function launchChoice(search: LaunchSearch, { skus, regions, images }: Catalog): LaunchChoice | null {
  const sku =
    skus.find((known) => known.sku === search.sku) ?? findSku(skus, 'gpu_slice', undefined) ?? skus[0];
  const image = images.find((known) => known.image === search.image) ?? images[0];
  if (!sku || !image) return null;
  const open = regions.filter(({ status }) => status === 'enabled').map(({ region }) => region);
  const region = open.find((known) => known === search.region) ?? open[0] ?? null;
  const stock = sku.availability.find((known) => known.region === region);
  const gpus =
    sku.allowed_gpu_counts.find((count) => count === search.gpus) ?? sku.allowed_gpu_counts[0] ?? 1;
  return {
    sku,
    region,
    image,
    gpus,
    largestSlice: stock?.largest_slice ?? 0,
    gpusAvailable: stock?.gpus_available ?? 0,
    perGpuHour: stock?.price_per_gpu_hour ?? sku.price_per_gpu_hour,
  };
}

/** The product of a shape, of the same GPU model if there is one. */
export function findSku(skus: Sku[], shape: Shape, model: string | undefined): Sku | undefined {
  const ofShape = skus.filter(({ capacity_shape: known }) => known === shape);
  return ofShape.find(({ gpu_model: known }) => known === model) ?? ofShape[0];
}

type Room = Pick<LaunchChoice, 'sku' | 'largestSlice'>;

/** Why a count cannot be launched now; null when it can. */
export function gpuCountError(count: number, { sku, largestSlice }: Room): string | null {
  if (count <= largestSlice) return null;
  if (sku.capacity_shape === 'baremetal') return 'No whole host is free in this region right now.';
  if (largestSlice === 0) return 'No GPU is free in this region right now.';
  return `${count} GPUs do not fit on one node right now; the largest free slice is ${largestSlice}.`;
}
