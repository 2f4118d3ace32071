import { useInfiniteQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/organization/members.ts';
import { teamsQuery } from '../api/organization/teams.ts';
import type { Holder } from '../api/types.ts';
import { shortId } from '../format/humanize.ts';

/** Names of binding holders; holders that are not loaded show the end of their id. */
export function usePrincipalNames(organizationId: string): (holder: Holder) => string {
  const members = useInfiniteQuery(membersQuery(organizationId)).data;
  const teams = useInfiniteQuery(teamsQuery(organizationId)).data;
  const names = new Map<string, string>();
  for (const { user_id: id, name } of members ?? []) names.set(id, name);
  for (const { id, name } of teams ?? []) names.set(id, name);
  return ({ id }) => names.get(id) ?? shortId(id);
}
