import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

type UtilisationStep = components['schemas']['UtilisationStep'];

interface Row {
  at: Date;
  region: string;
  gpu_model: string;
  samples: number;
  approved: number;
  sold: number;
  available: number;
  seen: number;
  busy: number;
}

/** Means of the samples of each hour or day. */
export async function reportUtilisationHistory(
  tx: Tx,
  query: { from: string; to: string; step: 'hour' | 'day'; limit: number; page?: string },
): Promise<Page<UtilisationStep>> {
  const after = decodePage(query.page, ['instant', 'text', 'text']);
  const { rows } = await sql<Row>`
    select * from (
      select date_trunc(${query.step}, taken_at at time zone 'utc') at time zone 'utc' as at, region, gpu_model,
        count(*)::integer as samples, avg(approved)::float8 as approved, avg(sold)::float8 as sold,
        avg(available)::float8 as available, sum(seen)::float8 as seen, sum(busy_percent_sum)::float8 as busy
      from utilisation_samples where taken_at >= ${query.from} and taken_at < ${query.to}
      group by 1, 2, 3
    ) as steps
    where ${after ? sql`(at, region, gpu_model) > (${after[0]}::timestamptz, ${after[1]}, ${after[2]})` : sql`true`}
    order by at, region, gpu_model limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [row.at.toISOString(), row.region, row.gpu_model]);
  const items = page.rows.map(({ at, seen, busy, approved, sold, available, ...rest }) => ({
    ...rest,
    at: at.toISOString(),
    approved: rounded(approved),
    sold: rounded(sold),
    available: rounded(available),
    sold_percent: rounded((sold * 100) / approved),
    busy_percent: seen > 0 ? rounded(busy / seen) : null,
  }));
  return { items, next_page: page.next_page };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
