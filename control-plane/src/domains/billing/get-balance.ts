import type { Tx } from '../../platform/db/database.ts';
import type { Money } from '../../platform/money.ts';

/** Balance is a sum; there is no other place where it is written down. */
export async function getBalances(tx: Tx, organizationId: string): Promise<Money[]> {
  const rows = await tx
    .selectFrom('ledger_entries')
    .select((e) => ['currency', e.fn.sum<string>('amount_micros').as('micros')])
    .where('organization_id', '=', organizationId)
    .where('account', '=', 'tenant_balance')
    .groupBy('currency')
    .orderBy('currency')
    .execute();
  return rows.map(({ currency, micros }) => ({ currency, micros: BigInt(micros) }));
}
