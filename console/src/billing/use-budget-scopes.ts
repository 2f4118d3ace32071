import { useInfiniteQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/organization/members.ts';
import type { ProjectChoice } from '../api/me.ts';
import { teamsQuery } from '../api/organization/teams.ts';
import type { Budget } from '../api/types.ts';

export interface BudgetScope {
  type: Budget['scope_type'];
  id: string;
  label: string;
}

/**
 * Possible scopes of a budget: the organization, its projects, teams and people, as far as the user may see
 * them.
 */
export function useBudgetScopes({ id, name, projects }: ProjectChoice['organization']): BudgetScope[] {
  const teams = useInfiniteQuery(teamsQuery(id)).data ?? [];
  const members = useInfiniteQuery(membersQuery(id)).data ?? [];
  return [
    { type: 'tenant', id, label: name },
    ...projects.map((project) => ({
      type: 'project' as const,
      id: project.id,
      label: `Project ${project.name}`,
    })),
    ...teams.map((team) => ({ type: 'team' as const, id: team.id, label: `Team ${team.name}` })),
    ...members.map((member) => ({ type: 'user' as const, id: member.user_id, label: member.name })),
  ];
}
