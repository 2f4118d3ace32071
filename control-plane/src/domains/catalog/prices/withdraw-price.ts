import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';

/** Removes a price that was never quoted; the database keeps all others. */
export async function withdrawPrice(tx: Tx, now: Date, priceId: string): Promise<void> {
  const price = await tx
    .selectFrom('sku_prices')
    .select('effective_from')
    .where('id', '=', priceId)
    .executeTakeFirst();
  if (!price) throw notFound();
  if (price.effective_from <= now) {
    throw new Problem(
      'price_in_effect',
      `It took effect at ${price.effective_from.toISOString()}; add another price instead.`,
    );
  }
  await tx.deleteFrom('sku_prices').where('id', '=', priceId).execute();
}
