import type { Tx } from '../../../platform/db/database.ts';
import type { Sealer } from '../../../platform/keys/seal.ts';

/** The user-data of an allocation as a parameter of its launch; nothing where the tenant gave none. */
export async function openUserData(
  sealer: Pick<Sealer, 'open'>,
  tx: Tx,
  allocationId: string,
): Promise<{ user_data?: string }> {
  const kept = await tx
    .selectFrom('allocation_user_data')
    .select('sealed')
    .where('allocation_id', '=', allocationId)
    .executeTakeFirst();
  return kept ? { user_data: sealer.open('user_data', kept.sealed, allocationId) } : {};
}
