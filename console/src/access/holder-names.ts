import { useInfiniteQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/members.ts';
import { teamsQuery } from '../api/teams.ts';
import type { Holder } from '../api/types.ts';
import { shortId } from '../format/words.ts';

/** Names for holders of bindings; those that are not loaded keep the end of their id. */
export function useHolderNames(organizationId: string): (holder: Holder) => string {
  const members = useInfiniteQuery(membersQuery(organizationId)).data;
  const teams = useInfiniteQuery(teamsQuery(organizationId)).data;
  const names = new Map<string, string>();
  for (const { user_id: id, name } of members ?? []) names.set(id, name);
  for (const { id, name } of teams ?? []) names.set(id, name);
  return ({ id }) => names.get(id) ?? shortId(id);
}
