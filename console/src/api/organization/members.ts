import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';

export const membersQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.members(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/members', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

/** Resources that a leaving member hands over. */
export const handoverQuery = (memberId: string) =>
  queryOptions({
    queryKey: organizationKeys.handover(memberId),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/members/{member_id}/handover', { params: at(memberId), signal })),
  });

export function disableMember(id: string) {
  return unwrap(client.POST('/api/v1/members/{member_id}/disable', { params: at(id) }));
}

export function enableMember(id: string) {
  return unwrap(client.POST('/api/v1/members/{member_id}/enable', { params: at(id) }));
}

export function removeMember(id: string) {
  return unwrap(client.DELETE('/api/v1/members/{member_id}', { params: at(id) }));
}

export const invitationsQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.invitations(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/invitations', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export interface NewInvitation {
  organization_id: string;
  email: string;
  permission_group: string;
  project_id?: string;
}

export function createInvitation(body: NewInvitation) {
  return unwrap(client.POST('/api/v1/invitations', { body }));
}

export function revokeInvitation(id: string) {
  return unwrap(
    client.DELETE('/api/v1/invitations/{invitation_id}', { params: { path: { invitation_id: id } } }),
  );
}

function at(id: string) {
  return { path: { member_id: id } };
}
