import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';

/**
 * Locks the tenant before a change that could remove its last admin: two admins who remove each other are
 * serialized, and the second is refused. New resources of the tenant do not wait for the lock.
 */
export async function lockOrganization(tx: Tx, organizationId: string): Promise<void> {
  const row = await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
}

/** Throws if no active member is a Tenant Admin any longer, by a direct binding or through a team. */
export async function requireRemainingAdmin(tx: Tx, organizationId: string): Promise<void> {
  const { rows } = await sql`
    select from organization_members m join permission_bindings b on b.organization_id = m.organization_id
    where m.organization_id = ${organizationId} and m.state = 'active'
      and b.permission_group = 'tenant_admin' and b.scope = 'tenant'
      and (b.user_id = m.user_id or exists (
        select from team_members t where t.team_id = b.team_id and t.user_id = m.user_id))
    limit 1`.execute(tx);
  if (rows.length > 0) return;
  throw new Problem('last_tenant_admin', 'Make somebody else a Tenant Admin first.');
}
