import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { moneyJson } from '../../../platform/money.ts';

/** What requests to an app cost at a time; null if nothing is charged. */
export async function findRequestPrice(
  tx: Tx,
  { app, currency, at }: { app: string; currency: string; at: Date },
): Promise<components['schemas']['AppRequestPrice'] | null> {
  const row = await tx
    .selectFrom('app_usage_prices')
    .select(['per_block_micros', 'block'])
    .where('app', '=', app)
    .where('dimension', '=', 'requests')
    .where('currency', '=', currency)
    .where('effective_from', '<=', at)
    .orderBy('effective_from', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  return { price: moneyJson({ currency, micros: row.per_block_micros }), per: Number(row.block) };
}
