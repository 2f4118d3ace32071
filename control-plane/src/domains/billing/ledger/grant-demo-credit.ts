import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { postTransaction } from './post-transaction.ts';

const DEMO_CREDIT_MICROS = 10_000_000_000n;

/** Lets the demo's tenants launch immediately. Granting it again changes nothing. */
export async function grantDemoCredit(tx: Tx, organizationIds: Iterable<string>): Promise<void> {
  for (const organizationId of new Set(organizationIds)) {
    await postTransaction(tx, {
      organizationId,
      kind: 'credit',
      currency: 'USD',
      gains: { tenant_balance: DEMO_CREDIT_MICROS, credits: -DEMO_CREDIT_MICROS },
      postingKey: 'demo-credit',
      reason: 'Starting credit of the demo',
      actorUserId: null,
      correlationId: newId(),
    });
  }
}
