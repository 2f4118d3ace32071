import { sql } from 'kysely';
import type { Binding } from '../../../platform/auth/caller.ts';
import { grantedBindings, type PrincipalRow } from '../../../platform/auth/granted-bindings.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { USER_WITH_RIGHTS } from '../credentials/principals-with-rights.ts';

export interface Person {
  id: string;
  email: string;
  name: string;
  bindings: Binding[];
}

/** Active members of a tenant, all or those requested, with their current rights. */
export async function listPeople(
  tx: Tx,
  organizationId: string,
  only?: readonly string[],
): Promise<Person[]> {
  if (only?.length === 0) return [];
  return await peopleWhere(
    tx,
    sql`(${only ?? null}::uuid[] is null or u.id = any (${only ?? null}::uuid[])) and exists (select from organization_members m
      where m.organization_id = ${organizationId} and m.user_id = u.id and m.state = 'active')`,
  );
}

/** People with rights on the platform itself. */
export async function listOperators(tx: Tx): Promise<Person[]> {
  return await peopleWhere(
    tx,
    sql`exists (select from permission_bindings b where b.scope = 'platform'
      and (b.user_id = u.id or b.team_id in (select t.team_id from team_members t where t.user_id = u.id)))`,
  );
}

/** Only the role that reads rights sees all of them; the caller must restrict their use. */
async function peopleWhere(tx: Tx, condition: ReturnType<typeof sql>): Promise<Person[]> {
  const { rows } = await withRole(tx, 'gpuaas_auth', () =>
    sql<PrincipalRow>`select ${sql.raw(USER_WITH_RIGHTS)} from users u where ${condition} order by u.id`.execute(
      tx,
    ),
  );
  return rows.map(({ id, email, name, bindings }) => ({
    id,
    email,
    name,
    bindings: grantedBindings(bindings, null),
  }));
}
