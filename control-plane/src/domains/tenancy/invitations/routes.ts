import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { addTenantToScope, withRole } from '../../../platform/db/scope.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { requireUser } from '../require-user.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { createInvitation } from './create-invitation.ts';
import { describeInvitation, findInvitation, type InvitationRow } from './describe-invitation.ts';
import { acceptUrl } from './invitation-link.ts';
import { listInvitations } from './list-invitations.ts';
import { previewInvitation } from './preview-invitation.ts';
import { revokeInvitation } from './revoke-invitation.ts';

type InvitationOperations = Pick<
  operations,
  | 'listInvitations'
  | 'createInvitation'
  | 'getInvitation'
  | 'revokeInvitation'
  | 'previewInvitation'
  | 'acceptInvitation'
>;

const target = ({ id, organization_id, email, permission_group, permission_group_id }: InvitationRow) => ({
  targetType: 'invitation',
  targetId: id,
  organizationId: organization_id,
  detail: { email, permission_group: permission_group ?? permission_group_id },
});

export function invitationRoutes(
  services: Services,
  publicUrl: string,
): Handlers<InvitationOperations, Caller> {
  const { clock } = services;
  return {
    listInvitations({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'member.read', query.organization_id);
        return { status: 200, body: await listInvitations(tx, clock.now(), query) };
      });
    },
    createInvitation({ caller, body, audit, mutate }) {
      audit({ targetType: 'organization', targetId: body.organization_id, detail: { email: body.email } });
      return mutate(async (tx) => {
        const { row, token } = await createInvitation(services, tx, caller, body);
        audit(target(row));
        const invitation = describeInvitation(row, clock.now());
        return {
          status: 201,
          ...withToken(invitation, token, publicUrl),
          location: `/api/v1/invitations/${row.id}`,
        };
      });
    },
    async getInvitation({ caller, params, read }) {
      const row = await read((tx) => findInvitation(tx, caller, 'member.read', params.invitation_id));
      return { status: 200, body: describeInvitation(row, clock.now()) };
    },
    revokeInvitation({ caller, params, audit, mutate }) {
      audit({ targetType: 'invitation', targetId: params.invitation_id });
      return mutate(async (tx) => {
        const row = await findInvitation(tx, caller, 'member.manage', params.invitation_id);
        audit(target(row));
        await revokeInvitation(tx, row.id, clock.now());
        return { status: 204, body: undefined };
      });
    },
    previewInvitation({ caller, body, read }) {
      return read(async (tx) => {
        const userId = requireUser(caller);
        return { status: 200, body: await previewInvitation(tx, userId, body.token, clock.now()) };
      });
    },
    acceptInvitation({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const userId = requireUser(caller);
        const accepted = await withRole(tx, 'gpuaas_auth', () =>
          acceptInvitation(tx, userId, body.token, clock.now()),
        );
        const { organizationId, memberId, projectId } = accepted;
        await addTenantToScope(tx, organizationId);
        audit({
          targetType: 'invitation',
          targetId: accepted.invitationId,
          organizationId,
          detail: { member_id: memberId },
        });
        return {
          status: 200,
          body: { organization_id: organizationId, member_id: memberId, project_id: projectId },
        };
      });
    },
  };
}

/** The caller gets the token once; the reply stored for a replay does not contain it. */
function withToken(invitation: components['schemas']['Invitation'], token: string, publicUrl: string) {
  return {
    body: { invitation, token, accept_url: acceptUrl(publicUrl, token) },
    replayBody: { invitation, token: null, accept_url: null, secret_already_shown: true },
  };
}
