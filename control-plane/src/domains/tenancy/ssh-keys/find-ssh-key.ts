import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, isScoped, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { SshKeys } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { projectResourceName } from '../../../platform/ids.ts';

export type SshKeyRow = Selectable<SshKeys>;

/** A key of the caller, or of a project in which the caller holds the permission. */
export async function findSshKey(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  keyId: string,
): Promise<SshKeyRow> {
  const row = await tx.selectFrom('ssh_keys').selectAll().where('id', '=', keyId).executeTakeFirst();
  if (!row) throw notFound();
  if (row.organization_id === null || row.project_id === null) {
    if (isScoped(caller)) throw notFound();
    caller.authorised = true;
    return row;
  }
  authorize(caller, permission, {
    kind: 'project',
    organizationId: row.organization_id,
    projectId: row.project_id,
  });
  return row;
}

export function describeSshKey(row: SshKeyRow): components['schemas']['SshKey'] {
  return {
    id: row.id,
    resource_name:
      row.organization_id === null || row.project_id === null
        ? null
        : projectResourceName(row.organization_id, row.project_id, 'ssh_key', row.id),
    user_id: row.user_id,
    organization_id: row.organization_id,
    project_id: row.project_id,
    name: row.name,
    type: row.type,
    fingerprint: row.fingerprint,
    public_key: row.public_key,
    created_at: row.created_at.toISOString(),
  };
}
