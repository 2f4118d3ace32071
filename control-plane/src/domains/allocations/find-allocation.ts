import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { AllocationRow } from './move-allocation.ts';

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
  if (!row) throw notFound();
  authorize(caller, permission, {
    kind: 'project',
    organizationId: row.organization_id,
    projectId: row.project_id,
  });
  return row;
}
