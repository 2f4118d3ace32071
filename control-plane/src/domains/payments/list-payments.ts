import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { describePayments } from './describe-payment.ts';
import type { PaymentRow } from './settle-payment.ts';

export async function listPayments(
  tx: Tx,
  query: {
    organization_id?: string;
    state?: components['schemas']['PaymentState'];
    limit: number;
    page?: string;
  },
): Promise<components['schemas']['PaymentPage']> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('payments')
    .selectAll()
    .$if(query.organization_id !== undefined, (q) => q.where('organization_id', '=', query.organization_id!))
    .$if(query.state !== undefined, (q) => q.where('state', '=', query.state!))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: await describePayments(tx, page.rows), next_page: page.next_page };
}

/** As far as the caller's scope sees it; what it does not see is not there. */
export async function findPayment(tx: Tx, paymentId: string): Promise<PaymentRow> {
  const row = await tx.selectFrom('payments').selectAll().where('id', '=', paymentId).executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

export async function showPayment(tx: Tx, paymentId: string): Promise<components['schemas']['Payment']> {
  const [payment] = await describePayments(tx, [await findPayment(tx, paymentId)]);
  return payment!;
}
