import type { AppCompatibility, Money, Sku } from '../../api/types.ts';
import { multiplyMoney } from '../../format/money.ts';

export interface Fit {
  sku: Sku;
  gpus: number;
  perHour: Money;
}

/** The cheapest allocation that an app can run on; null if no product that the tenant may use fits. */
export function smallestFit(app: AppCompatibility, skus: readonly Sku[]): Fit | null {
  const fits = skus.filter((sku) => sku.entitled && isAllowed(app, sku)).flatMap((sku) => fitOf(app, sku));
  return fits.toSorted((one, other) => one.perHour.micros - other.perHour.micros)[0] ?? null;
}

function isAllowed(app: AppCompatibility, { capacity_shape: shape }: Sku): boolean {
  // A whole host that is leased has no root unless an operator grants it.
  if ((app.needs_root && shape === 'baremetal') || (app.requires_exclusive_node && shape !== 'baremetal'))
    return false;
  return app.requires_capacity_shape.includes(shape);
}

function fitOf({ min_gpu_count: least }: AppCompatibility, sku: Sku): Fit[] {
  const gpus = sku.allowed_gpu_counts.filter((count) => count >= least).toSorted((a, b) => a - b)[0];
  return gpus === undefined ? [] : [{ sku, gpus, perHour: multiplyMoney(sku.price_per_gpu_hour, gpus) }];
}
