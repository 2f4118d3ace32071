import type { components } from '@gpuaas/sdk/contract';
import { UsageError } from '../usage-error.ts';
import type { Offer } from './offer.ts';

/** Order without its project. */
export type LaunchOrder = Omit<components['schemas']['CreateAllocation'], 'project_id'>;

/** Options given as flags. */
export interface LaunchFlags {
  gpus?: number;
  sku?: string;
  image?: string | undefined;
  region?: string;
  name?: string;
  sshKey?: string[];
  queue?: boolean;
  maxDuration?: number;
}

/** Fills in omitted options: the number of GPUs is the minimum. The server has the last word. */
export function completeOrder(offer: Offer, flags: LaunchFlags & { gpus: number }): LaunchOrder {
  const sku = flags.sku ?? productFor(offer, flags.gpus);
  return {
    sku,
    gpu_count: flags.gpus,
    region: flags.region ?? regionFor(offer, sku, flags.gpus),
    image: flags.image ?? imageFor(offer),
    ssh_key_ids: keysFor(offer, flags.sshKey),
    ...(flags.name !== undefined && { name: flags.name }),
    ...(flags.queue && { when_unavailable: 'queue' as const }),
    ...(flags.maxDuration !== undefined && { max_duration_seconds: flags.maxDuration }),
  };
}

/** Prefer a slice to a whole host: it starts sooner and needs no empty host. */
function productFor({ skus }: Offer, gpus: number): string {
  const fitting = skus.filter((sku) => sku.allowed_gpu_counts.includes(gpus));
  const found = fitting.find((sku) => sku.capacity_shape === 'gpu_slice') ?? fitting[0];
  if (found) return found.sku;
  const sizes = [...new Set(skus.flatMap((sku) => sku.allowed_gpu_counts))].toSorted((a, b) => a - b);
  throw new UsageError(
    sizes.length === 0
      ? 'No products available yet.'
      : `No product with ${gpus} GPUs; available sizes: ${sizes.join(', ')}.`,
  );
}

function regionFor({ skus }: Offer, sku: string, gpus: number): string {
  const places = skus.find((one) => one.sku === sku)?.availability ?? [];
  const place = places.find((one) => one.largest_slice >= gpus) ?? places[0];
  if (!place) throw new UsageError(`${sku} is not available in any region; pass --region.`);
  return place.region;
}

function imageFor({ images }: Offer): string {
  const image = images.find((one) => one.kind === 'base') ?? images[0];
  if (!image) throw new UsageError('No image found; pass --image.');
  return image.image;
}

/** By id or by name. Defaults to all keys of the user. */
function keysFor({ sshKeys }: Offer, asked: string[] | undefined): string[] {
  if (!asked) return sshKeys.map((key) => key.id);
  return asked.map((one) => sshKeys.find((key) => key.name === one)?.id ?? one);
}
