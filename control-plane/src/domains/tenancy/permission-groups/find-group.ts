import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, authorizeAnywhere, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { PermissionGroupRow } from './describe-group.ts';

/** One of the tenant's own groups. */
export async function findGroup(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  groupId: string,
  options: { lock?: boolean } = {},
): Promise<PermissionGroupRow> {
  const row = await tx
    .selectFrom('permission_groups')
    .selectAll()
    .where('id', '=', groupId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  if (permission === 'access.read') authorizeAnywhere(caller, permission, row.organization_id);
  else authorize(caller, permission, { kind: 'tenant', organizationId: row.organization_id });
  return row;
}
