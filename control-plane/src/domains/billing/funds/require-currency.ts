import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { listCurrencies } from '../../catalog/list-currencies.ts';

/** Refuses a currency without prices. */
export async function requireCurrency(tx: Tx, currency: string, pointer = '/amount/currency'): Promise<void> {
  const known = await listCurrencies(tx);
  if (known.includes(currency)) return;
  throw new Problem('currency_unknown', `The price book has no prices in ${currency}.`, {
    errors: [{ pointer, detail: `must be one of ${known.join(', ')}` }],
    extensions: { known_currencies: known },
  });
}
