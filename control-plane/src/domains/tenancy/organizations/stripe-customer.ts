import type { Tx } from '../../../platform/db/database.ts';

export interface PayingOrganization {
  id: string;
  name: string;
  stripeCustomerId: string | null;
}

export async function findPayingOrganization(tx: Tx, organizationId: string): Promise<PayingOrganization> {
  const row = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'stripe_customer_id'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return { id: row.id, name: row.name, stripeCustomerId: row.stripe_customer_id };
}

/** The first customer that is noted stays: two that were made at once must not both be used. Returns it. */
export async function noteStripeCustomer(tx: Tx, organizationId: string, customer: string): Promise<string> {
  await tx
    .updateTable('organizations')
    .set({ stripe_customer_id: customer })
    .where('id', '=', organizationId)
    .where('stripe_customer_id', 'is', null)
    .execute();
  return (await findPayingOrganization(tx, organizationId)).stripeCustomerId!;
}
