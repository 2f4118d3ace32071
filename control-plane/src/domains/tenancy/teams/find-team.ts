import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import {
  authorize,
  authorizeAnywhere,
  permissionsAt,
  type Caller,
  type Scope,
} from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Teams } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantResourceName } from '../../../platform/ids.ts';
import { lockOrganization } from '../require-remaining-admin.ts';

export type TeamRow = Selectable<Teams>;

export async function findTeam(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  teamId: string,
  options: { byManagers?: boolean } = {},
): Promise<TeamRow> {
  const row = await selectTeam(tx, teamId).executeTakeFirst();
  if (!row) throw notFound();
  const organizationId = row.organization_id;
  const team: Scope = { kind: 'team', organizationId, teamId };
  if (permission !== 'member.read') {
    authorize(caller, permission, options.byManagers ? team : { kind: 'tenant', organizationId });
  } else if (permissionsAt(caller.bindings, team).has(permission)) authorize(caller, permission, team);
  else authorizeAnywhere(caller, permission, organizationId);
  return row;
}

/**
 * A team to change. Every change locks the organization first and then the team, so that two changes never
 * deadlock. `byManagers`: managers of the team may do it, too.
 */
export async function lockTeam(
  tx: Tx,
  caller: Caller,
  teamId: string,
  options: { byManagers?: boolean } = {},
): Promise<TeamRow> {
  const { organization_id: organizationId } = await findTeam(tx, caller, 'member.manage', teamId, options);
  await lockOrganization(tx, organizationId);
  const row = await selectTeam(tx, teamId).forUpdate().executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

const selectTeam = (tx: Tx, teamId: string) => tx.selectFrom('teams').selectAll().where('id', '=', teamId);

export function describeTeam(row: TeamRow): components['schemas']['Team'] {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'team', row.id),
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    is_default: row.is_default,
    created_at: row.created_at.toISOString(),
  };
}
