import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { listHolders } from '../tenancy/list-holders.ts';
import type { HolderType, Measure } from './counter.ts';
import { effectiveLimit, type ConfiguredLimits } from './effective-limit.ts';

type Quota = components['schemas']['Quota'];

export interface QuotaRow extends ConfiguredLimits {
  holderType: HolderType;
  holderId: string;
  measure: Measure;
  unit: string;
  used: bigint;
}

export interface QuotaFilter {
  holderId?: string | undefined;
  measure?: Measure;
  unit?: string;
  after?: [string, string, string, string] | null;
  limit: number;
}

/** Quotas of the tenant's projects and members in every measure, including those that are unset or unused. */
export async function listQuotas(
  policies: Policies,
  tx: Tx,
  organizationId: string,
  query: { holder_id?: string; limit: number; page?: string },
): Promise<Page<Quota>> {
  const after = decodePage(query.page, ['text', 'uuid', 'text', 'text']);
  const rows = await quotaRows(tx, organizationId, {
    holderId: query.holder_id,
    after,
    limit: query.limit + 1,
  });
  const page = toPage(rows, query.limit, (row) => [row.holderType, row.holderId, row.measure, row.unit]);
  return {
    items: page.rows.map((row) => describeQuota(policies, organizationId, row)),
    next_page: page.next_page,
  };
}

export async function quotaRows(tx: Tx, organizationId: string, filter: QuotaFilter): Promise<QuotaRow[]> {
  const { holderId, measure = null, unit = null, after = null, limit } = filter;
  const from = after && { type: holderType(after[0]), id: after[1] };
  // Each holder has at least one quota, so as many holders as rows to show are enough.
  const holders = await listHolders(tx, organizationId, { only: holderId, from, limit });
  const beyond = after
    ? sql`(h.holder_type, h.holder_id, m.measure, m.unit) > (${after[0]}, ${after[1]}::uuid, ${after[2]}, ${after[3]})`
    : sql`true`;
  const { rows } = await sql<QuotaRow>`
    with measured (measure, unit) as (
      select 'allocations', ''
      union select 'app_instances', ''
      union select 'gpus', gpu_model from sku_catalog
      union select 'spend_per_hour', currency from sku_prices
    )
    select h.holder_type as "holderType", h.holder_id as "holderId", m.measure, m.unit, coalesce(u.used, 0) as used,
      p.amount as "platformLimit", t.amount as "tenantLimit"
    from unnest(${holders.map(({ type }) => type)}::text[], ${holders.map(({ id }) => id)}::uuid[])
        as h (holder_type, holder_id)
      cross join measured m
      left join quota_usage u on (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit)
        = (${organizationId}::uuid, h.holder_type, h.holder_id, m.measure, m.unit)
      left join quota_limits p on p.set_by = 'platform'
        and (p.organization_id, p.holder_type, p.holder_id, p.measure, p.unit)
          = (${organizationId}::uuid, h.holder_type, h.holder_id, m.measure, m.unit)
      left join quota_limits t on t.set_by = 'tenant'
        and (t.organization_id, t.holder_type, t.holder_id, t.measure, t.unit)
          = (${organizationId}::uuid, h.holder_type, h.holder_id, m.measure, m.unit)
    where (${measure}::text is null or m.measure = ${measure}::text)
      and (${unit}::text is null or m.unit = ${unit}::text)
      and ${beyond}
    order by 1, 2, 3, 4
    limit ${limit}`.execute(tx);
  return rows;
}

export function describeQuota(policies: Policies, organizationId: string, row: QuotaRow): Quota {
  const { limit, setBy } = effectiveLimit(policies, { organizationId, ...row }, row);
  return {
    holder: { type: row.holderType, id: row.holderId },
    measure: row.measure,
    unit: row.unit === '' ? null : row.unit,
    limit: Number(limit),
    limit_set_by: setBy,
    used: Number(row.used),
    platform_limit: row.platformLimit === null ? null : Number(row.platformLimit),
    tenant_limit: row.tenantLimit === null ? null : Number(row.tenantLimit),
  };
}

function holderType(text: string): HolderType {
  if (text === 'project' || text === 'user') return text;
  throw new Problem('invalid_request', 'The page cursor is not one of ours.');
}
