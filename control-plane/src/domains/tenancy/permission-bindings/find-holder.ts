import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

type Holder = components['schemas']['Holder'];

/** Columns that name the holder, after checking that it belongs to the tenant. */
export async function findHolder(
  tx: Tx,
  organizationId: string,
  projectId: string | null,
  { type, id }: Holder,
): Promise<{ user_id?: string; team_id?: string; service_account_id?: string }> {
  if (type === 'user') {
    if (await isMember(tx, organizationId, id)) return { user_id: id };
  } else if (type === 'team') {
    if (await isTeam(tx, organizationId, id)) return { team_id: id };
  } else if (projectId !== null) {
    if (await isServiceAccount(tx, projectId, id)) return { service_account_id: id };
  } else {
    throw new Problem(
      'permission_group_scope_refused',
      'A service account can hold rights in its own project only.',
      {
        errors: [{ pointer: '/project_id', detail: 'must name the project of the service account' }],
      },
    );
  }
  throw new Problem('holder_unknown', `There is no such ${type.replace('_', ' ')} here.`, {
    errors: [{ pointer: '/holder/id', detail: 'is unknown here' }],
  });
}

async function isMember(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('organization_members')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

async function isTeam(tx: Tx, organizationId: string, teamId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('teams')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', teamId)
    .executeTakeFirst();
  return row !== undefined;
}

async function isServiceAccount(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('service_accounts')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
