import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { lockOrganization, requireAdminLeft } from '../keep-an-admin.ts';
import { type BindingRow } from './describe-binding.ts';
import { findBinding } from './find-binding.ts';

/** Takes a group away; the last Tenant Admin keeps theirs. */
export async function deleteBinding(tx: Tx, caller: Caller, bindingId: string): Promise<BindingRow> {
  const row = await findBinding(tx, caller, 'access.manage', bindingId);
  await lockOrganization(tx, row.organization_id!);
  await tx.deleteFrom('permission_bindings').where('id', '=', row.id).execute();
  await requireAdminLeft(tx, row.organization_id!);
  return row;
}
