import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { hashSecret, newSecret } from '../../../platform/auth/secrets.ts';
import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { selectMembers } from '../members/find-member.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { requireGroupScope, resolveGroup } from '../permission-groups/resolve-group.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import { tenantScope } from '../scopes.ts';
import { INVITATION_COLUMNS, type InvitationRow } from './describe-invitation.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * An invitation is bound to an address and to one group that the inviter could bind. Only the token's hash is
 * stored.
 */
export async function createInvitation(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateInvitation'],
): Promise<{ row: InvitationRow; token: string }> {
  const { id: organizationId } = await findOrganization(tx, caller, 'member.manage', body.organization_id);
  const projectId = body.project_id ?? null;
  if (projectId !== null) await requireProject(tx, organizationId, projectId);
  const group = await resolveGroup(tx, organizationId, body.permission_group, '/permission_group');
  requireGroupScope(group, projectId);
  requireHeldPermissions(caller, group.permissions, tenantScope(organizationId, projectId));
  await refuseMember(tx, organizationId, body.email);
  const now = clock.now();
  await endExpired(tx, organizationId, body.email, now);
  const token = newSecret('invitation');
  const ttl = policies.get('auth.invitation_ttl_seconds', { organizationId });
  try {
    const row = await tx
      .insertInto('invitations')
      .values({
        id: newId(),
        organization_id: organizationId,
        email: body.email,
        token_hash: hashSecret(token),
        permission_group: group.key,
        permission_group_id: group.id,
        project_id: projectId,
        invited_by: caller.id,
        expires_at: new Date(now.getTime() + ttl * 1000),
      })
      .returning(INVITATION_COLUMNS)
      .executeTakeFirstOrThrow();
    return { row, token };
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('invitation_pending', `${body.email} already has an invitation; revoke it first.`);
  }
}

async function requireProject(tx: Tx, organizationId: string, projectId: string): Promise<void> {
  const row = await tx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', projectId)
    .executeTakeFirst();
  if (!row) throw notFound();
}

async function refuseMember(tx: Tx, organizationId: string, email: string): Promise<void> {
  const member = await selectMembers(tx)
    .where('m.organization_id', '=', organizationId)
    .where((e) => e(e.fn<string>('lower', ['u.email']), '=', email.toLowerCase()))
    .executeTakeFirst();
  if (member) throw new Problem('already_member', `${email} is already a member; bind the group instead.`);
}

/** Revokes an expired invitation, so that a new one can be made. */
async function endExpired(tx: Tx, organizationId: string, email: string, now: Date): Promise<void> {
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('organization_id', '=', organizationId)
    .where((e) => e(e.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}
