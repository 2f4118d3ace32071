import type { Tx } from '../../../platform/db/database.ts';
import type { PreparedLaunch } from '../launch/launch.ts';

/**
 * Stores the user-data of machines. The database deletes it as soon as an allocation is active or can no
 * longer become so. Needs the role `gpuaas_placement`.
 */
export async function storeUserData(
  tx: Tx,
  launches: readonly Pick<PreparedLaunch, 'allocation' | 'userData'>[],
): Promise<void> {
  const rows = launches.flatMap(({ allocation, userData }) =>
    userData === null ? [] : [{ allocation_id: allocation.id, sealed: userData }],
  );
  if (rows.length > 0) await tx.insertInto('allocation_user_data').values(rows).execute();
}
