import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { cumulativeCost, moneyJson } from '../../../platform/money.ts';

interface Row {
  id: string;
  name: string;
  project_id: string;
  gpu_count: number;
  currency: string;
  per_hour_micros: bigint;
  idle_since: Date | null;
  idle_seconds: bigint;
}

/** Running leases that are or were idle, with the cost of their idle seconds. */
export async function listIdleLeases(
  tx: Tx,
  now: Date,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['IdleLease']>> {
  const after = decodePage(query.page, ['uuid']);
  const { rows } = await sql<Row>`
    select a.id, a.name, a.project_id, a.gpu_count, a.currency, a.per_gpu_hour_micros * a.gpu_count as per_hour_micros,
      i.idle_since,
      (i.idle_seconds + coalesce(greatest(0, floor(extract(epoch from ${now}::timestamptz - i.idle_since))), 0))::bigint
        as idle_seconds
    from allocation_idleness i join allocations a on a.id = i.allocation_id
    where i.organization_id = ${query.organization_id} and a.state = 'active' and a.release_requested_at is null
      and (i.idle_since is not null or i.idle_seconds > 0)
      and (${after?.[0] ?? null}::uuid is null or i.allocation_id > ${after?.[0] ?? null})
    order by i.allocation_id limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row) => {
    const perHour = { currency: row.currency, micros: row.per_hour_micros };
    return {
      allocation_id: row.id,
      name: row.name,
      project_id: row.project_id,
      gpu_count: row.gpu_count,
      per_hour: moneyJson(perHour),
      idle_since: row.idle_since?.toISOString() ?? null,
      idle_seconds: Number(row.idle_seconds),
      cost: moneyJson(cumulativeCost(perHour, row.idle_seconds)),
    };
  });
  return { items, next_page: page.next_page };
}
