import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantScope } from '../scopes.ts';
import { selectBindings, type BindingRow } from './describe-binding.ts';

export async function findBinding(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  bindingId: string,
): Promise<BindingRow> {
  const row = await selectBindings(tx).where('b.id', '=', bindingId).executeTakeFirst();
  if (!row) throw notFound();
  authorize(caller, permission, tenantScope(row.organization_id!, row.project_id));
  return row;
}
