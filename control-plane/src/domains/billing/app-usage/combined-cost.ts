import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { moneyJson } from '../../../platform/money.ts';

/** Total cost of a tenant's leases and apps. Leases count by the start of their windows, as in budgets. */
export async function combinedCost(
  tx: Tx,
  { organization_id, from, to }: { organization_id: string; from: string; to: string },
): Promise<components['schemas']['CombinedCost'][]> {
  const { rows } = await sql<{ currency: string; leases: bigint; apps: bigint }>`
    select currency, sum(leases)::bigint as leases, sum(apps)::bigint as apps from (
      select currency, amount_micros as leases, 0 as apps from usage_records
      where organization_id = ${organization_id} and window_from >= ${from} and window_from < ${to}
      union all
      select currency, 0, amount_micros from app_usage_records
      where organization_id = ${organization_id} and occurred_at >= ${from} and occurred_at < ${to}
        and currency is not null
    ) as cost group by 1 order by 1`.execute(tx);
  return rows.map(({ currency, leases, apps }) => ({
    leases: moneyJson({ currency, micros: leases }),
    apps: moneyJson({ currency, micros: apps }),
    total: moneyJson({ currency, micros: leases + apps }),
  }));
}
