import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { lockOrganization, requireRemainingAdmin } from '../require-remaining-admin.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import { tenantScope } from '../scopes.ts';
import { permissionsOfBinding, type BindingRow } from './describe-binding.ts';
import { findBinding } from './find-binding.ts';

/** Removes a binding; the caller must be able to grant it. The last Tenant Admin keeps theirs. */
export async function deleteBinding(tx: Tx, caller: Caller, bindingId: string): Promise<BindingRow> {
  const row = await findBinding(tx, caller, 'access.manage', bindingId);
  await lockOrganization(tx, row.organization_id!);
  requireHeldPermissions(
    caller,
    permissionsOfBinding(row),
    tenantScope(row.organization_id!, row.project_id),
  );
  await tx.deleteFrom('permission_bindings').where('id', '=', row.id).execute();
  await requireRemainingAdmin(tx, row.organization_id!);
  return row;
}
