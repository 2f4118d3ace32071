import type { Tx } from '../../platform/db/database.ts';
import { given } from '../../platform/db/given.ts';
import { withRole } from '../../platform/db/scope.ts';

export interface Holder {
  type: 'project' | 'user';
  id: string;
}

/** Projects of a tenant, then its members and service accounts, each by id; starts with `from`. */
export async function listHolders(
  tx: Tx,
  organizationId: string,
  options: { only?: string | undefined; from?: Holder | null; limit: number },
): Promise<Holder[]> {
  const { only, from, limit } = options;
  const projects = from?.type === 'user' ? [] : await projectsOf(tx, organizationId, only, from?.id, limit);
  const after = from?.type === 'user' ? from.id : undefined;
  // Operators cannot read members elsewhere; this returns only their ids.
  const users = await withRole(tx, 'gpuaas_auth', () => usersOf(tx, organizationId, only, after, limit));
  return [
    ...projects.map((id): Holder => ({ type: 'project', id })),
    ...users.map((id): Holder => ({ type: 'user', id })),
  ].slice(0, limit);
}

async function projectsOf(
  tx: Tx,
  organizationId: string,
  only: string | undefined,
  from: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$call(given(only, (q, value) => q.where('id', '=', value)))
    .$call(given(from, (q, value) => q.where('id', '>=', value)))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

async function usersOf(
  tx: Tx,
  organizationId: string,
  only: string | undefined,
  from: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom((e) =>
      e
        .selectFrom('organization_members')
        .select('user_id as id')
        .where('organization_id', '=', organizationId)
        .union(e.selectFrom('service_accounts').select('id').where('organization_id', '=', organizationId))
        .as('launcher'),
    )
    .select('id')
    .$call(given(only, (q, value) => q.where('id', '=', value)))
    .$call(given(from, (q, value) => q.where('id', '>=', value)))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
