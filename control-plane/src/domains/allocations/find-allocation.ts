import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { requireInProject, type Caller } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { AllocationRow } from './transition-allocation.ts';

/** An allocation the caller may act on; anything else looks like a missing one. */
export async function findAllocation(
  db: Db | Tx,
  caller: Caller,
  permission: Permission,
  allocationId: string,
  options: { lock?: boolean } = {},
): Promise<AllocationRow> {
  const row = await db
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  return requireInProject(caller, permission, row);
}
