import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { requireGroupScope, resolveGroup } from '../permission-groups/resolve-group.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import { tenantScope } from '../scopes.ts';
import { findHolder } from './find-holder.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Binds a group to a holder, never with more rights than the caller has at that scope. Returns the binding's
 * id.
 */
export async function createBinding(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreatePermissionBinding'],
): Promise<string> {
  const { organization_id: organizationId, project_id: projectId = null } = body;
  await requirePlace(tx, organizationId, projectId);
  const scope = tenantScope(organizationId, projectId);
  authorize(caller, 'access.manage', scope);
  const group = await resolveGroup(tx, organizationId, body.permission_group, '/permission_group');
  requireGroupScope(group, projectId);
  requireHeldPermissions(caller, group.permissions, scope);
  const holder = await findHolder(tx, organizationId, projectId, body.holder);
  const id = newId();
  try {
    await tx
      .insertInto('permission_bindings')
      .values({
        id,
        organization_id: organizationId,
        project_id: projectId,
        scope: projectId === null ? 'tenant' : 'project',
        permission_group: group.key,
        permission_group_id: group.id,
        ...holder,
      })
      .execute();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('binding_exists', `${group.name} is already bound at this scope.`);
  }
  return id;
}

async function requirePlace(tx: Tx, organizationId: string, projectId: string | null): Promise<void> {
  const place =
    projectId === null
      ? await tx.selectFrom('organizations').select('id').where('id', '=', organizationId).executeTakeFirst()
      : await tx
          .selectFrom('projects')
          .select('id')
          .where('organization_id', '=', organizationId)
          .where('id', '=', projectId)
          .executeTakeFirst();
  if (!place) throw notFound();
}
