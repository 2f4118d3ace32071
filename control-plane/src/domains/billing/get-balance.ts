import type { Tx } from '../../platform/db/database.ts';
import type { Money } from '../../platform/money.ts';

/** Balance is the sum of the entries, kept up by the entries themselves; `ledger:verify` adds up again. */
export async function getBalances(tx: Tx, organizationId: string): Promise<Money[]> {
  return await tx
    .selectFrom('balance_snapshots')
    .select(['currency', 'micros'])
    .where('organization_id', '=', organizationId)
    .orderBy('currency')
    .execute();
}
