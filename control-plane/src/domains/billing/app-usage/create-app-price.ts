import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { requireCurrency } from '../funds/require-currency.ts';
import { describeAppPrice } from './list-app-prices.ts';

/** Sets a price from now or later. Recorded usage keeps its price. */
export async function createAppPrice(
  tx: Tx,
  {
    now,
    callerId,
    body,
  }: { now: Date; callerId: string; body: components['schemas']['CreateAppUsagePrice'] },
): Promise<components['schemas']['AppUsagePrice']> {
  const from = body.effective_from === undefined ? now : new Date(body.effective_from);
  if (from < now) {
    throw new Problem('price_in_past', 'A price takes effect now or later.', {
      errors: [{ pointer: '/effective_from', detail: 'is in the past' }],
    });
  }
  await requireCurrency(tx, body.price.currency, '/price/currency');
  const row = await tx
    .insertInto('app_usage_prices')
    .values({
      id: newId(),
      app: body.app,
      dimension: body.dimension,
      currency: body.price.currency,
      per_block_micros: BigInt(body.price.micros),
      block: BigInt(body.per),
      effective_from: from,
      created_by: callerId,
    })
    .onConflict((c) => c.columns(['app', 'dimension', 'currency', 'effective_from']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Problem('price_exists', `A price from ${from.toISOString()} already exists.`);
  return describeAppPrice(row);
}
