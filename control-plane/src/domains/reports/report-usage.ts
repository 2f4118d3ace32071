import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql, type RawBuilder } from 'kysely';
import { csvLine } from '../../platform/csv.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage } from '../../platform/http/page.ts';
import { decimalText, moneyJson } from '../../platform/money.ts';

type Group = components['schemas']['CostGroup'] | components['schemas']['RevenueGroup'];

export interface ReportQuery {
  /** One tenant; all tenants when left out. */
  organizationId?: string;
  from: string;
  to: string;
  groupBy: Group;
}

interface Line {
  group: string;
  label: string;
  currency: string;
  gpuSeconds: bigint;
  micros: bigint;
}

const NAME_OF: Partial<Record<Group, RawBuilder<unknown>>> = {
  project: sql`(select p.name from projects p where p.id = g.key::uuid)`,
  team: sql`(select t.name from teams t where t.id = nullif(g.key, '')::uuid)`,
  tenant: sql`(select o.name from organizations o where o.id = g.key::uuid)`,
};

/** Joins that some groups need beside the usage. */
const JOINED: Partial<Record<Group, RawBuilder<unknown>>> = {
  team: sql`left join team_members m on m.user_id = u.user_id and m.organization_id = u.organization_id`,
  tag: sql`left join allocations a on a.id = u.allocation_id left join unnest(a.tags) as tag (name) on true`,
};

const KEY_OF: Record<Group, RawBuilder<unknown>> = {
  project: sql`u.project_id::text`,
  team: sql`coalesce(m.team_id::text, '')`,
  user: sql`coalesce(u.user_id::text, '')`,
  tenant: sql`u.organization_id::text`,
  sku: sql`u.sku`,
  tag: sql`coalesce(tag.name, '')`,
  region: sql`u.region`,
  day: sql`to_char(u.at at time zone 'utc', 'YYYY-MM-DD')`,
  month: sql`to_char(u.at at time zone 'utc', 'YYYY-MM')`,
};

/**
 * Leases by the start of their windows and apps by their time of use; an app takes the place of a product.
 */
const USAGE = sql`(
  select organization_id, project_id, user_id, allocation_id, sku, region, window_from as at, currency,
    billed_seconds * gpu_count as gpu_seconds, amount_micros from usage_records
  union all
  select organization_id, project_id, user_id, allocation_id, 'app:' || app, '', occurred_at, currency, 0, amount_micros
  from app_usage_records where currency is not null)`;

/**
 * Usage of a period, summed by one dimension. Amounts are the ledger's: each record is debited once, with its
 * amount.
 */
async function readReport(
  tx: Tx,
  { organizationId, from, to, groupBy }: ReportQuery,
  page: { limit: number; after: string[] | null },
): Promise<Line[]> {
  const { rows } = await sql<Line>`
    select g.key as "group", coalesce(${NAME_OF[groupBy] ?? sql`g.key`}, g.key) as label, g.currency,
      g.gpu_seconds as "gpuSeconds", g.micros
    from (
      select ${KEY_OF[groupBy]} as key, u.currency, sum(u.gpu_seconds)::bigint as gpu_seconds,
        sum(u.amount_micros)::bigint as micros
      from ${USAGE} u ${JOINED[groupBy] ?? sql``}
      where u.at >= ${from} and u.at < ${to}
        and (${organizationId ?? null}::uuid is null or u.organization_id = ${organizationId ?? null})
      group by 1, 2
    ) g
    where ${page.after ? sql`(g.key, g.currency) > (${page.after[0]}, ${page.after[1]})` : sql`true`}
    order by g.key, g.currency limit ${page.limit}`.execute(tx);
  return rows;
}

export async function reportUsage(
  tx: Tx,
  query: ReportQuery & { limit: number; page?: string },
): Promise<components['schemas']['Report']> {
  const after = decodePage(query.page, ['text', 'text']);
  const rows = await readReport(tx, query, { limit: query.limit + 1, after });
  const page = toPage(rows, query.limit, (row) => [row.group, row.currency]);
  const items = page.rows.map(({ group, label, currency, gpuSeconds, micros }) => ({
    group,
    label,
    gpu_seconds: Number(gpuSeconds),
    amount: moneyJson({ currency, micros }),
  }));
  return { items, next_page: page.next_page };
}

const CSV_ROWS = 100_000;

export async function reportUsageCsv(tx: Tx, query: ReportQuery): Promise<string> {
  const rows = await readReport(tx, query, { limit: CSV_ROWS, after: null });
  return [
    csvLine([query.groupBy, 'name', 'gpu_seconds', 'amount', 'currency']),
    ...rows.map(({ group, label, gpuSeconds, micros, currency }) =>
      csvLine([group, label, String(gpuSeconds), decimalText(micros), currency]),
    ),
  ].join('');
}
