import type { Tx } from '../../../platform/db/database.ts';
import type { Launch } from '../sell-together.ts';

/**
 * Keeps what the machines are to be started with. The database forgets it as soon as an allocation is no longer on its
 * way to `active`. Needs the role `gpuaas_placement`.
 */
export async function keepUserData(
  tx: Tx,
  launches: readonly Pick<Launch, 'allocation' | 'userData'>[],
): Promise<void> {
  const rows = launches.flatMap(({ allocation, userData }) =>
    userData === null ? [] : [{ allocation_id: allocation.id, sealed: userData }],
  );
  if (rows.length > 0) await tx.insertInto('allocation_user_data').values(rows).execute();
}
