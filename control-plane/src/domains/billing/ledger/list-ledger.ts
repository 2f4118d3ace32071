import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeTransaction } from './describe-transaction.ts';
import { listEntries } from './post-transaction.ts';

export async function listLedger(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['LedgerTransaction']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('ledger_transactions')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const entries = await listEntries(
    tx,
    page.rows.map((row) => row.id),
  );
  const items = page.rows.map((transaction) =>
    describeTransaction({
      transaction,
      entries: entries.filter((entry) => entry.transaction_id === transaction.id),
    }),
  );
  return { items, next_page: page.next_page };
}
