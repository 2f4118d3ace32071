import type { Tx } from '../../../platform/db/database.ts';

/** The person who owns a service account; null when it has no owner. */
export async function findServiceAccountOwner(tx: Tx, serviceAccountId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('service_accounts')
    .select('owner_user_id')
    .where('id', '=', serviceAccountId)
    .executeTakeFirst();
  return row?.owner_user_id ?? null;
}
