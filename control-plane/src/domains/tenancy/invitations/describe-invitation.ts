import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Invitations } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

export type InvitationRow = Omit<Selectable<Invitations>, 'token_hash'>;
type Invitation = components['schemas']['Invitation'];

/** All columns except the token's hash. */
export const INVITATION_COLUMNS = [
  'id',
  'organization_id',
  'email',
  'permission_group',
  'permission_group_id',
  'project_id',
  'invited_by',
  'created_at',
  'expires_at',
  'accepted_at',
  'accepted_by',
  'revoked_at',
] as const;

export async function findInvitation(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  invitationId: string,
): Promise<InvitationRow> {
  const row = await tx
    .selectFrom('invitations')
    .select(INVITATION_COLUMNS)
    .where('id', '=', invitationId)
    .executeTakeFirst();
  if (!row) throw notFound();
  authorize(caller, permission, { kind: 'tenant', organizationId: row.organization_id });
  return row;
}

export function describeInvitation(row: InvitationRow, now: Date): Invitation {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'invitation', row.id),
    organization_id: row.organization_id,
    email: row.email,
    permission_group: row.permission_group ?? row.permission_group_id!,
    project_id: row.project_id,
    state: stateOf(row, now),
    invited_by: row.invited_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    accepted_at: row.accepted_at?.toISOString() ?? null,
  };
}

function stateOf(row: InvitationRow, now: Date): Invitation['state'] {
  if (row.accepted_at) return 'accepted';
  if (row.revoked_at) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'pending';
}
