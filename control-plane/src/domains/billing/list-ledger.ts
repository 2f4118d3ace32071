import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { describeTransaction } from './describe-transaction.ts';
import { entriesOf } from './post-transaction.ts';

export async function listLedger(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['LedgerTransaction'][]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('ledger_transactions')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const entries = await entriesOf(
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
