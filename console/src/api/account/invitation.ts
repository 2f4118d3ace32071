import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { userKeys } from '../query-keys.ts';

/** What the person is invited to. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: userKeys.invitation(token),
    queryFn: ({ signal }) => unwrap(client.POST('/api/v1/invitations/preview', { body: { token }, signal })),
    retry: false,
  });

export function acceptInvitation(token: string) {
  return unwrap(client.POST('/api/v1/invitations/accept', { body: { token } }));
}

export function createOrganization(name: string) {
  return unwrap(client.POST('/api/v1/organizations', { body: { name: name.slice(0, 200) } }));
}
