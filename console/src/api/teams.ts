import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { pagedQuery } from './paged.ts';
import { organizationKeys } from './query-keys.ts';

export const teamsQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.teams(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/teams', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export const teamMembersQuery = (teamId: string) =>
  pagedQuery(organizationKeys.teamMembers(teamId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/teams/{team_id}/members', {
        params: { path: { team_id: teamId }, query: page },
        signal,
      }),
    ),
  );

export function createTeam(body: { organization_id: string; name: string; description?: string }) {
  return unwrap(client.POST('/api/v1/teams', { body }));
}

export function deleteTeam(id: string) {
  return unwrap(client.DELETE('/api/v1/teams/{team_id}', { params: { path: { team_id: id } } }));
}

export function addToTeam({ teamId, userId }: { teamId: string; userId: string }) {
  return unwrap(client.PUT('/api/v1/teams/{team_id}/members/{user_id}', { params: place(teamId, userId) }));
}

export function takeFromTeam({ teamId, userId }: { teamId: string; userId: string }) {
  return unwrap(
    client.DELETE('/api/v1/teams/{team_id}/members/{user_id}', { params: place(teamId, userId) }),
  );
}

function place(teamId: string, userId: string) {
  return { path: { team_id: teamId, user_id: userId } };
}
