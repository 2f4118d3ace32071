import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/problem.ts';
import { tenantResourceName } from '../../platform/ids.ts';
import { moneyJson } from '../../platform/money.ts';
import type { StatementDocument } from './build-statement.ts';

type Summary = components['schemas']['StatementSummary'];

export async function listStatements(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<Summary>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('statements')
    .select((e) => [
      'id',
      'number',
      'currency',
      'opening_micros',
      'closing_micros',
      'closed_at',
      sql<string>`to_char(${e.ref('month')}, 'YYYY-MM')`.as('month'),
    ])
    .where('organization_id', '=', query.organization_id)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    id: row.id,
    resource_name: tenantResourceName(query.organization_id, 'statement', row.id),
    number: row.number,
    organization_id: query.organization_id,
    currency: row.currency,
    month: row.month,
    opening_balance: moneyJson({ currency: row.currency, micros: row.opening_micros }),
    closing_balance: moneyJson({ currency: row.currency, micros: row.closing_micros }),
    closed_at: row.closed_at.toISOString(),
  }));
  return { items, next_page: page.next_page };
}

/** As it was closed. */
export async function findStatement(tx: Tx, statementId: string): Promise<StatementDocument> {
  const row = await tx
    .selectFrom('statements')
    .select('document')
    .where('id', '=', statementId)
    .executeTakeFirst();
  if (!row) throw notFound();
  return JSON.parse(row.document);
}
