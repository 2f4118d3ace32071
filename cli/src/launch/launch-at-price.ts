import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { isMoney } from '../table-columns.ts';
import { money } from '../table.ts';
import { UsageError } from '../usage-error.ts';
import type { LaunchOrder } from './complete-order.ts';
import type { Offer } from './offer.ts';

type Schemas = components['schemas'];
export type Money = Schemas['Money'];

/** Price of a GPU hour as the catalog shows it; undefined for a product or region that it does not list. */
export function priceOf({ skus }: Offer, { sku, region }: LaunchOrder): Money | undefined {
  return skus.find((one) => one.sku === sku)?.availability.find((one) => one.region === region)
    ?.price_per_gpu_hour;
}

/** Launches at the price that was shown, or at a changed one that `max` still allows. */
export async function launchAtPrice(
  client: GpuaasClient,
  body: Schemas['CreateAllocation'],
  shown: Money | undefined,
  max: Money | undefined,
): Promise<Schemas['Allocation']> {
  if (max && !shown) throw new UsageError(`No price for ${body.sku} in ${body.region}; see gpuaas skus.`);
  if (max && shown) refuseAbove(max, shown);
  const launchAt = (price: Money | undefined): Promise<Schemas['Allocation']> =>
    unwrap(
      client.POST('/api/v1/allocations', {
        body: { ...body, ...(price && { expected_price_per_gpu_hour: price }) },
      }),
    );
  try {
    return await launchAt(shown);
  } catch (error) {
    const current = currentPrice(error);
    if (!max || !current) throw error;
    refuseAbove(max, current);
    return await launchAt(current);
  }
}

function refuseAbove(max: Money, price: Money): void {
  if (price.currency !== max.currency)
    throw new UsageError(`The price is in ${price.currency}; give --max-price in ${price.currency}.`);
  if (price.micros > max.micros)
    throw new Error(`A GPU hour costs ${money(price)}, more than --max-price ${money(max)}.`);
}

function currentPrice(error: unknown): Money | undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== 'price_changed') return undefined;
  const { current_per_gpu_hour: current } = error.problem;
  return isMoney(current) ? current : undefined;
}
