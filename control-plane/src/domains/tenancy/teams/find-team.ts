import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, authorizeAnywhere, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Teams } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

export type TeamRow = Selectable<Teams>;

export async function findTeam(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  teamId: string,
  options: { lock?: boolean } = {},
): Promise<TeamRow> {
  const row = await tx
    .selectFrom('teams')
    .selectAll()
    .where('id', '=', teamId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  if (permission === 'member.read') authorizeAnywhere(caller, permission, row.organization_id);
  else authorize(caller, permission, { kind: 'tenant', organizationId: row.organization_id });
  return row;
}

export function describeTeam(row: TeamRow): components['schemas']['Team'] {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'team', row.id),
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    created_at: row.created_at.toISOString(),
  };
}
