import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { formatMoney, moneyJson, type Money } from '../../../platform/money.ts';
import type { Policies } from '../../../platform/policy/policies.ts';

type CreatePrice = components['schemas']['CreatePrice'];

/** Refuses a price that differs much from the one it follows, unless the operator confirms the change. */
export async function requireConfirmedChange(
  policies: Pick<Policies, 'get'>,
  tx: Tx,
  body: CreatePrice,
  from: Date,
): Promise<void> {
  if (body.confirm_large_change) return;
  const current = await priceBefore(tx, body, from);
  if (!current) return;
  const requested = { currency: current.currency, micros: BigInt(body.per_gpu_hour.micros) };
  const percent = changePercent(current.micros, requested.micros);
  const limit = policies.get('prices.confirm_change_percent');
  if (percent !== null && Math.abs(percent) <= limit) return;
  const change = percent === null ? 'from free' : `by ${percent > 0 ? '+' : ''}${percent} %`;
  throw new Problem(
    'price_change_unconfirmed',
    `The price would change ${change}, from ${formatMoney(current)} to ${formatMoney(requested)}. ` +
      `Confirm a change of more than ${limit} %.`,
    {
      extensions: {
        current_per_gpu_hour: moneyJson(current),
        requested_per_gpu_hour: moneyJson(requested),
        change_percent: percent,
        limit_percent: limit,
      },
    },
  );
}

/** What the buyer would pay otherwise: the tenant's price, else the list price. */
async function priceBefore(tx: Tx, body: CreatePrice, at: Date): Promise<Money | null> {
  const tenant = body.organization_id ?? null;
  const row = await tx
    .selectFrom('sku_prices')
    .select(['currency', 'per_gpu_hour_micros'])
    .where('sku', '=', body.sku)
    .where('region', '=', body.region)
    .where('currency', '=', body.per_gpu_hour.currency)
    .where('effective_from', '<=', at)
    .where((e) => e.or([e('effective_until', 'is', null), e('effective_until', '>', at)]))
    .where((e) =>
      tenant === null
        ? e('organization_id', 'is', null)
        : e.or([e('organization_id', 'is', null), e('organization_id', '=', tenant)]),
    )
    .orderBy('organization_id', (order) => order.asc().nullsLast())
    .orderBy('effective_from', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? { currency: row.currency, micros: row.per_gpu_hour_micros } : null;
}

/** Rounded to whole percent; null for a change from nothing. */
function changePercent(before: bigint, after: bigint): number | null {
  if (before === after) return 0;
  if (before === 0n) return null;
  return Math.round((Number(after - before) / Number(before)) * 100);
}
