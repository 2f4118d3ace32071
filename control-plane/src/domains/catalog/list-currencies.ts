import type { Tx } from '../../platform/db/database.ts';

/** All currencies with current or past prices. */
export async function listCurrencies(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('sku_prices').select('currency').distinct().orderBy('currency').execute();
  return rows.map((row) => row.currency);
}
