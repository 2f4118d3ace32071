import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';

type Sum = components['schemas']['AppUsageSum'];

interface Row {
  organization_id: string;
  project_id: string;
  producer: string;
  app: string;
  dimension: Sum['dimension'];
  currency: string;
  quantity: bigint;
  records: bigint;
  micros: bigint;
}

/** Usage between two times, by tenant, project, producer, app and dimension. */
export async function sumAppUsage(
  tx: Tx,
  query: {
    organization_id?: string;
    from: string;
    to: string;
    limit: number;
    page?: string;
  },
): Promise<Page<Sum>> {
  const after = decodePage(query.page, ['uuid', 'uuid', 'text', 'text', 'text', 'text']);
  const beyond = after
    ? sql`and (organization_id, project_id, producer, app, dimension, coalesce(currency, ''))
        > (${after[0]}::uuid, ${after[1]}::uuid, ${after[2]}, ${after[3]}, ${after[4]}, ${after[5]})`
    : sql``;
  const { rows } = await sql<Row>`
    select organization_id, project_id, producer, app, dimension, coalesce(currency, '') as currency,
      sum(quantity)::bigint as quantity, count(*) as records, sum(amount_micros)::bigint as micros
    from app_usage_records
    where (${query.organization_id ?? null}::uuid is null or organization_id = ${query.organization_id ?? null})
      and occurred_at >= ${query.from} and occurred_at < ${query.to} ${beyond}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6 limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [
    row.organization_id,
    row.project_id,
    row.producer,
    row.app,
    row.dimension,
    row.currency,
  ]);
  const items = page.rows.map((row) => ({
    organization_id: row.organization_id,
    project_id: row.project_id,
    producer: row.producer,
    app: row.app,
    dimension: row.dimension,
    quantity: Number(row.quantity),
    records: Number(row.records),
    amount: row.currency === '' ? null : moneyJson({ currency: row.currency, micros: row.micros }),
  }));
  return { items, next_page: page.next_page };
}
