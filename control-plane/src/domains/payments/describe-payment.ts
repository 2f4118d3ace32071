import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { tenantResourceName } from '../../platform/ids.ts';
import { moneyJson } from '../../platform/money.ts';
import { includedTax } from './tax.ts';
import type { PaymentRow } from './settle-payment.ts';

type Payment = components['schemas']['Payment'];

/** Payments with their refunds and disputes. */
export async function describePayments(tx: Tx, rows: readonly PaymentRow[]): Promise<Payment[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const refunds = await tx
    .selectFrom('payment_refunds')
    .selectAll()
    .where('payment_id', 'in', ids)
    .orderBy('id')
    .execute();
  const disputes = await tx
    .selectFrom('payment_disputes')
    .selectAll()
    .where('payment_id', 'in', ids)
    .orderBy('id')
    .execute();
  return rows.map((row) => {
    const { currency } = row;
    const money = (micros: bigint) => moneyJson({ currency, micros });
    return {
      id: row.id,
      resource_name: tenantResourceName(row.organization_id, 'payment', row.id),
      organization_id: row.organization_id,
      provider: row.provider,
      purpose: row.purpose,
      state: row.state,
      amount: money(row.amount_micros),
      tax: money(includedTax(row.received_micros ?? row.amount_micros, row.tax_basis_points)),
      received: row.received_micros === null ? null : money(row.received_micros),
      reference: row.payment_ref,
      note: row.note,
      checkout_url: row.checkout_url,
      expires_at: row.expires_at?.toISOString() ?? null,
      payment_method_id: row.payment_method_id,
      failure: row.failure_code
        ? { code: row.failure_code, detail: row.failure_detail ?? row.failure_code }
        : null,
      ledger_transaction_id: row.ledger_transaction_id,
      refunds: refunds
        .filter((refund) => refund.payment_id === row.id)
        .map((refund) => ({
          id: refund.id,
          state: refund.state,
          amount: money(refund.amount_micros),
          reason: refund.reason,
          created_at: refund.created_at.toISOString(),
        })),
      disputes: disputes
        .filter((dispute) => dispute.payment_id === row.id)
        .map((dispute) => ({
          id: dispute.id,
          state: dispute.state,
          amount: money(dispute.amount_micros),
          reason: dispute.reason,
          opened_at: dispute.opened_at.toISOString(),
          closed_at: dispute.closed_at?.toISOString() ?? null,
        })),
      created_at: row.created_at.toISOString(),
      settled_at: row.settled_at?.toISOString() ?? null,
    };
  });
}
