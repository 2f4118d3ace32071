import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';
import type { TeamRole } from '../types.ts';

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

export function makeDefaultTeam(id: string) {
  return unwrap(
    client.PATCH('/api/v1/teams/{team_id}', {
      params: { path: { team_id: id } },
      body: { is_default: true },
    }),
  );
}

/** `transferTo` takes over the projects of the team. */
export function deleteTeam({ id, transferTo }: { id: string; transferTo: string | null }) {
  return unwrap(
    client.DELETE('/api/v1/teams/{team_id}', {
      params: { path: { team_id: id }, ...(transferTo ? { query: { transfer_to: transferTo } } : {}) },
    }),
  );
}

export function addToTeam({ teamId, userId }: { teamId: string; userId: string }) {
  return unwrap(client.PUT('/api/v1/teams/{team_id}/members/{user_id}', { params: place(teamId, userId) }));
}

export function removeFromTeam({ teamId, userId }: { teamId: string; userId: string }) {
  return unwrap(
    client.DELETE('/api/v1/teams/{team_id}/members/{user_id}', { params: place(teamId, userId) }),
  );
}

export function setTeamRole({ teamId, userId, role }: { teamId: string; userId: string; role: TeamRole }) {
  return unwrap(
    client.PATCH('/api/v1/teams/{team_id}/members/{user_id}', {
      params: place(teamId, userId),
      body: { role },
    }),
  );
}

function place(teamId: string, userId: string) {
  return { path: { team_id: teamId, user_id: userId } };
}
