import type { Tx } from '../../../platform/db/database.ts';
import { present } from '../../../platform/present.ts';

export interface BillingOrganization {
  id: string;
  name: string;
  stripeCustomerId: string | null;
}

export async function findPayingOrganization(tx: Tx, organizationId: string): Promise<BillingOrganization> {
  const row = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'stripe_customer_id'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return { id: row.id, name: row.name, stripeCustomerId: row.stripe_customer_id };
}

/** The first stored customer stays: of two created concurrently only one is used. Returns it. */
export async function saveStripeCustomer(tx: Tx, organizationId: string, customer: string): Promise<string> {
  await tx
    .updateTable('organizations')
    .set({ stripe_customer_id: customer })
    .where('id', '=', organizationId)
    .where('stripe_customer_id', 'is', null)
    .execute();
  return present((await findPayingOrganization(tx, organizationId)).stripeCustomerId, 'customer reference');
}
