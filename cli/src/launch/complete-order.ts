import type { components } from '@gpuaas/sdk/contract';
import { UsageError } from '../usage-error.ts';
import type { Offer } from './offer.ts';

/** What to lease, without the project. */
export type Order = Omit<components['schemas']['CreateAllocation'], 'project_id'>;

/** What was said with flags. */
export interface OrderFlags {
  gpus?: number;
  sku?: string;
  image?: string | undefined;
  region?: string;
  name?: string;
  sshKey?: string[];
  queue?: boolean;
  maxDuration?: number;
}

/** Fills in what was not said: the smallest thing to say is how many GPUs. The server has the last word. */
export function completeOrder(offer: Offer, flags: OrderFlags & { gpus: number }): Order {
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

/** A slice before a whole host: it is there sooner and nothing else has to make room. */
function productFor({ skus }: Offer, gpus: number): string {
  const fitting = skus.filter((sku) => sku.allowed_gpu_counts.includes(gpus));
  const found = fitting.find((sku) => sku.capacity_shape === 'gpu_slice') ?? fitting[0];
  if (found) return found.sku;
  const sizes = [...new Set(skus.flatMap((sku) => sku.allowed_gpu_counts))].toSorted((a, b) => a - b);
  throw new UsageError(
    sizes.length === 0
      ? 'Nothing is on sale yet.'
      : `Nothing is sold with ${gpus} GPUs; sizes are ${sizes.join(', ')}.`,
  );
}

function regionFor({ skus }: Offer, sku: string, gpus: number): string {
  const places = skus.find((one) => one.sku === sku)?.availability ?? [];
  const place = places.find((one) => one.largest_slice >= gpus) ?? places[0];
  if (!place) throw new UsageError(`${sku} is sold in no region that you can see; pass --region.`);
  return place.region;
}

function imageFor({ images }: Offer): string {
  const image = images.find((one) => one.kind === 'base') ?? images[0];
  if (!image) throw new UsageError('There is no image to start from; pass --image.');
  return image.image;
}

/** By id or by name. Who said nothing wants to log in with the keys they have. */
function keysFor({ sshKeys }: Offer, asked: string[] | undefined): string[] {
  if (!asked) return sshKeys.map((key) => key.id);
  return asked.map((one) => sshKeys.find((key) => key.name === one)?.id ?? one);
}
