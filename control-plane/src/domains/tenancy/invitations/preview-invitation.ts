import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { addTenantToScope, withRole } from '../../../platform/db/scope.ts';
import type { InvitationRow } from './describe-invitation.ts';
import { findInvitationByToken } from './find-by-token.ts';

type Preview = components['schemas']['InvitationPreview'];

/** The question to the invited person: which organization, which group, and who invited them. */
export async function previewInvitation(tx: Tx, userId: string, token: string, now: Date): Promise<Preview> {
  const row = await withRole(tx, 'gpuaas_auth', () => findInvitationByToken(tx, userId, token, now));
  await addTenantToScope(tx, row.organization_id);
  const organization = await tx
    .selectFrom('organizations')
    .select('name')
    .where('id', '=', row.organization_id)
    .executeTakeFirstOrThrow();
  const project =
    row.project_id === null
      ? null
      : await tx.selectFrom('projects').select('name').where('id', '=', row.project_id).executeTakeFirst();
  return {
    organization_name: organization.name,
    project_name: project?.name ?? null,
    permission_group: await groupName(tx, row),
    invited_by: await inviter(tx, row),
    expires_at: row.expires_at.toISOString(),
  };
}

async function groupName(tx: Tx, row: InvitationRow): Promise<string> {
  if (row.permission_group !== null) return permissionGroups[row.permission_group].display_name;
  const group = await tx
    .selectFrom('permission_groups')
    .select('name')
    .where('id', '=', row.permission_group_id)
    .executeTakeFirstOrThrow();
  return group.name;
}

async function inviter(tx: Tx, { invited_by: id }: InvitationRow): Promise<Preview['invited_by']> {
  const person = await tx
    .selectFrom('users')
    .select(['name', 'email'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (person) return person;
  const account = await tx
    .selectFrom('service_accounts')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst();
  return { name: account?.name ?? 'A former member', email: null };
}
