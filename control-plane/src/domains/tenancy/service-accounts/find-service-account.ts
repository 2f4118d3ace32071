import type { Selectable } from 'kysely';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { ServiceAccounts } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { permissionsOfBinding, selectBindings } from '../permission-bindings/describe-binding.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';

export type ServiceAccountRow = Selectable<ServiceAccounts>;

export async function findServiceAccount(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  serviceAccountId: string,
  options: { lock?: boolean; orItself?: boolean } = {},
): Promise<ServiceAccountRow> {
  const row = await tx
    .selectFrom('service_accounts')
    .selectAll()
    .where('id', '=', serviceAccountId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  if (options.orItself && caller.id === row.id) caller.authorised = true;
  else authorize(caller, permission, scopeOfAccount(row));
  return row;
}

function scopeOfAccount(row: ServiceAccountRow) {
  return { kind: 'project', organizationId: row.organization_id, projectId: row.project_id } as const;
}

/** The holder of its token has its rights, so the caller must hold all of them to get one. */
export async function requireAccountPermissions(
  tx: Tx,
  caller: Caller,
  row: ServiceAccountRow,
): Promise<void> {
  if (caller.id === row.id) return;
  const bindings = await selectBindings(tx).where('b.service_account_id', '=', row.id).execute();
  requireHeldPermissions(caller, bindings.flatMap(permissionsOfBinding), scopeOfAccount(row));
}
