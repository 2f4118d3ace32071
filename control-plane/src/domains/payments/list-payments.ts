import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { notFound } from '../../platform/http/problem.ts';
import { decodePage, toPage } from '../../platform/http/page.ts';
import { describePayments } from './describe-payment.ts';
import type { PaymentRow } from './settle-payment.ts';
import { present } from '../../platform/present.ts';

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
    .$call(
      given(query.organization_id, (q, organizationId) => q.where('organization_id', '=', organizationId)),
    )
    .$call(given(query.state, (q, state) => q.where('state', '=', state)))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describePayments(tx, page.rows), next_page: page.next_page };
}

/** Searches in the caller's scope; a payment outside it does not exist for the caller. */
export async function findPayment(tx: Tx, paymentId: string): Promise<PaymentRow> {
  const row = await tx.selectFrom('payments').selectAll().where('id', '=', paymentId).executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

export async function showPayment(tx: Tx, paymentId: string): Promise<components['schemas']['Payment']> {
  const [payment] = await describePayments(tx, [await findPayment(tx, paymentId)]);
  return present(payment, 'payment');
}
