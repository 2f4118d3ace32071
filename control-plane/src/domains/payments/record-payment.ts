import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { requireCurrency } from '../billing/funds/require-currency.ts';
import { emitBalanceCredited } from './credit-payment.ts';
import { postPayment } from './post-payment.ts';

/**
 * Records a payment that an operator received by bank or otherwise; credited immediately. Returns the
 * payment's id.
 */
export async function recordPayment(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  organizationId: string,
  body: components['schemas']['RecordPayment'],
  by: { userId: string | null; correlationId: string },
): Promise<string> {
  await requireTenant(tx, organizationId);
  await requireCurrency(tx, body.amount.currency);
  const { reference } = body;
  await requireNew(tx, organizationId, reference);
  const { currency } = body.amount;
  const amount = BigInt(body.amount.micros);
  const id = newId();
  const now = clock.now();
  const tax_basis_points = policies.get('billing.tax_basis_points', { organizationId });
  const transactionId = await postPayment(tx, {
    payment: {
      id,
      organization_id: organizationId,
      currency,
      correlation_id: by.correlationId,
      tax_basis_points,
    },
    kind: 'payment',
    paid: amount,
    cause: `payment:manual:${reference}`,
    reason: `Payment received (${reference})`,
    actorUserId: by.userId,
  });
  const payment = await tx
    .insertInto('payments')
    .values({
      id,
      organization_id: organizationId,
      provider: 'manual',
      purpose: 'received',
      state: 'succeeded',
      currency,
      amount_micros: amount,
      received_micros: amount,
      tax_basis_points,
      payment_ref: reference,
      note: body.note ?? null,
      ledger_transaction_id: transactionId,
      created_by: by.userId,
      correlation_id: by.correlationId,
      created_at: now,
      settled_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await emitBalanceCredited(tx, payment);
  return id;
}

async function requireTenant(tx: Tx, organizationId: string): Promise<void> {
  const tenant = await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!tenant) throw notFound();
}

async function requireNew(tx: Tx, organizationId: string, reference: string): Promise<void> {
  const known = await tx
    .selectFrom('payments')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('provider', '=', 'manual')
    .where('payment_ref', '=', reference)
    .executeTakeFirst();
  if (!known) return;
  throw new Problem('payment_reference_taken', 'It was credited when it was first recorded.', {
    errors: [{ pointer: '/reference', detail: 'was recorded before' }],
    extensions: { payment_id: known.id },
  });
}
