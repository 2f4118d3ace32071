import type { Image, Region, Sku } from '../api/types.ts';
import type { LaunchSearch } from '../search-params.ts';

export interface Catalog {
  skus: Sku[];
  regions: Region[];
  images: Image[];
}

export interface LaunchChoice {
  sku: Sku;
  region: string | null;
  image: Image;
  gpus: number;
  /** GPUs that fit on one node of the region now. */
  largestSlice: number;
  gpusAvailable: number;
}

/** What the address asks for, completed with the first choice that can be had. */
export function launchChoice(search: LaunchSearch, { skus, regions, images }: Catalog): LaunchChoice | null {
  const sku = skus.find((known) => known.sku === search.sku) ?? skus[0];
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
  };
}

/** Why a count cannot be launched now; null when it can. */
export function countRefusal(count: number, largestSlice: number): string | null {
  if (count <= largestSlice) return null;
  if (largestSlice === 0) return 'No GPU is free in this region right now.';
  return `${count} GPUs do not fit on one node right now; the largest free slice is ${largestSlice}.`;
}
