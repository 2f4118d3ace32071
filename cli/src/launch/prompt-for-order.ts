import { colorize } from '../colorize.ts';
import { money } from '../table.ts';
import { askText, askYesOrNo } from '../terminal/ask.ts';
import { chooseOne, chooseSome } from '../terminal/choose.ts';
import { CancelledError, UsageError } from '../usage-error.ts';
import { completeOrder, type LaunchOrder, type LaunchFlags } from './complete-order.ts';
import type { Offer } from './offer.ts';

const DURATIONS = [
  { value: undefined, label: 'never, I release it myself' },
  { value: 3_600, label: 'after an hour' },
  { value: 8 * 3_600, label: 'after 8 hours' },
  { value: 24 * 3_600, label: 'after a day' },
  { value: 7 * 24 * 3_600, label: 'after a week' },
];
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

type Sku = Offer['skus'][number];
type Place = Sku['availability'][number];

/** Prompts for missing options, shows the price, and launches only after a yes. */
export async function promptForOrder(offer: Offer, said: LaunchFlags): Promise<LaunchOrder> {
  const sku = await askForSku(offer, said.sku);
  const place = await askForRegion(sku, said.region);
  const gpus = said.gpus ?? (await askForSize(sku, place));
  const fits = place.largest_slice >= gpus;
  const queue = said.queue ?? (!fits && (await askYesOrNo('No capacity right now. Queue the launch?')));
  const image = said.image ?? (await askForImage(offer));
  const sshKey = said.sshKey ?? (await askForKeys(offer));
  const name = said.name ?? (await askText('Name (empty = generated)', '', wrongName));
  const maxDuration = said.maxDuration ?? (await chooseOne('Auto-release', DURATIONS));
  const order = completeOrder(offer, {
    sku: sku.sku,
    region: place.region,
    gpus,
    queue,
    image,
    sshKey,
    ...(name !== '' && { name }),
    ...(maxDuration !== undefined && { maxDuration }),
  });
  if (!(await askYesOrNo(`Launch ${summary(order, place)}?`)))
    throw new CancelledError('cancelled, nothing was launched.');
  return order;
}

async function askForSku({ skus }: Offer, said: string | undefined): Promise<Sku> {
  if (said !== undefined) {
    const found = skus.find((sku) => sku.sku === said);
    if (!found) throw new UsageError(`No product ${said} available to you; see gpuaas skus.`);
    return found;
  }
  if (skus.length === 0) throw new UsageError('No products available yet.');
  return skus.length === 1
    ? skus[0]!
    : await chooseOne(
        'Which product?',
        skus.map((sku) => ({
          value: sku,
          label: sku.display_name,
          hint: `${sku.sku}, from ${money(sku.price_per_gpu_hour)} per GPU hour`,
        })),
      );
}

async function askForRegion({ sku, availability }: Sku, said: string | undefined): Promise<Place> {
  const places = said === undefined ? availability : availability.filter((one) => one.region === said);
  if (places.length === 0)
    throw new UsageError(`${sku} is not sold ${said ? `in ${said}` : 'anywhere yet'}.`);
  return places.length === 1
    ? places[0]!
    : await chooseOne(
        'Which region?',
        places.map((place) => ({
          value: place,
          label: place.region,
          hint: `${place.gpus_available} GPUs free, ${money(place.price_per_gpu_hour)} each per hour`,
        })),
      );
}

async function askForSize({ allowed_gpu_counts: sizes }: Sku, place: Place): Promise<number> {
  return await chooseOne(
    'How many GPUs?',
    sizes.map((size) => {
      const stock = place.by_gpu_count.find((one) => one.gpu_count === size)?.available ?? 0;
      return {
        value: size,
        label: String(size),
        hint: `${perHour(place, size)} per hour, ${stock > 0 ? `${stock} free` : 'none free now'}`,
      };
    }),
  );
}

async function askForImage({ images }: Offer): Promise<string | undefined> {
  if (images.length < 2) return undefined;
  return await chooseOne(
    'Which image?',
    images.map(({ image, display_name: label }) => ({ value: image, label, hint: image })),
  );
}

async function askForKeys({ sshKeys }: Offer): Promise<string[]> {
  if (sshKeys.length === 0) {
    console.error(
      colorize('dim', '  No SSH keys yet; add one with gpuaas ssh-keys create <file>.', process.stderr),
    );
    return [];
  }
  return await chooseSome(
    'Which SSH keys?',
    sshKeys.map((key) => ({ value: key.id, label: key.name, hint: key.fingerprint })),
  );
}

function wrongName(text: string): string | null {
  return text === '' || NAME.test(text) ? null : 'Use up to 63 lower-case letters, digits and hyphens.';
}

function summary(order: LaunchOrder, place: Place): string {
  const cost = `${perHour(place, order.gpu_count)} per hour`;
  return `${order.gpu_count} × ${order.sku} in ${order.region} for ${cost}`;
}

function perHour({ price_per_gpu_hour: price }: Place, gpus: number): string {
  return money({ currency: price.currency, micros: price.micros * gpus });
}
