import type { Tx } from '../../platform/db/database.ts';

/** The currencies in which anything is or was sold. */
export async function listCurrencies(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('sku_prices').select('currency').distinct().orderBy('currency').execute();
  return rows.map((row) => row.currency);
}
