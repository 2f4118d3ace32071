import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, authorizeAnywhere, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Organizations } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

export type OrganizationRow = Pick<Selectable<Organizations>, 'id' | 'name' | 'created_at'>;

/**
 * An organization in which the caller holds the permission; with `anywhere`, a right in one of its projects
 * is enough.
 */
export async function findOrganization(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  organizationId: string,
  options: { anywhere?: boolean; lock?: boolean } = {},
): Promise<OrganizationRow> {
  const row = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'created_at'])
    .where('id', '=', organizationId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  if (options.anywhere) authorizeAnywhere(caller, permission, organizationId);
  else authorize(caller, permission, { kind: 'tenant', organizationId });
  return row;
}

export function describeOrganization(row: OrganizationRow): components['schemas']['Organization'] {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.id, 'organization', row.id),
    name: row.name,
    created_at: row.created_at.toISOString(),
  };
}
