import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';

export async function findMethod(tx: Tx, methodId: string): Promise<{ organizationId: string }> {
  const row = await tx
    .selectFrom('payment_methods')
    .select('organization_id')
    .where('id', '=', methodId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  if (!row) throw notFound();
  return { organizationId: row.organization_id };
}

/** It is charged no more, by an automatic top-up neither. */
export async function removeMethod(tx: Tx, methodId: string, now: Date): Promise<void> {
  await tx
    .updateTable('auto_top_ups')
    .set({ enabled: false, updated_at: now })
    .where('payment_method_id', '=', methodId)
    .execute();
  await tx.updateTable('payment_methods').set({ removed_at: now }).where('id', '=', methodId).execute();
}
