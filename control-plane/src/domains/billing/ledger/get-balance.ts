import type { Tx } from '../../../platform/db/database.ts';
import type { Money } from '../../../platform/money.ts';

/** The balance is the sum of the entries, maintained as they are written; `ledger:verify` recomputes it. */
export async function getBalances(tx: Tx, organizationId: string): Promise<Money[]> {
  return await tx
    .selectFrom('balance_snapshots')
    .select(['currency', 'micros'])
    .where('organization_id', '=', organizationId)
    .orderBy('currency')
    .execute();
}
