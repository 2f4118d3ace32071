import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import type { Db } from '../../platform/db/database.ts';
import { projectResourceName, tenantResourceName } from '../../platform/ids.ts';

type Me = components['schemas']['Me'];

/** The caller with every organization and project they may see, and their rights in each. */
export async function getMe(db: Db, caller: Caller): Promise<Me> {
  const organizations = await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', 'in', [...caller.organizationIds, NOWHERE])
    .orderBy('id')
    .execute();
  const projects = await db
    .selectFrom('projects')
    .selectAll()
    .where('organization_id', 'in', [...caller.organizationIds, NOWHERE])
    .orderBy('id')
    .execute();
  const { credential, userId, email, name } = caller;
  return {
    user: userId === null ? null : { id: userId, email, name },
    service_account: userId === null ? { id: caller.id, name } : null,
    csrf_token: credential.kind === 'session' ? credential.csrfToken : null,
    platform_permissions: [...permissionsAt(caller.bindings, { kind: 'platform' })],
    organizations: organizations.map((organization) => ({
      id: organization.id,
      name: organization.name,
      resource_name: tenantResourceName(organization.id, 'organization', organization.id),
      permissions: [...permissionsAt(caller.bindings, { kind: 'tenant', organizationId: organization.id })],
      projects: projects
        .filter((project) => project.organization_id === organization.id)
        .map((project) => ({
          project,
          permissions: projectPermissions(caller, project.organization_id, project.id),
        }))
        .filter(({ permissions }) => permissions.length > 0)
        .map(({ project, permissions }) => ({
          id: project.id,
          name: project.name,
          resource_name: projectResourceName(project.organization_id, project.id, 'project', project.id),
          permissions,
        })),
    })),
  };
}

/** `in ()` is no SQL. */
const NOWHERE = '00000000-0000-0000-0000-000000000000';

function projectPermissions(caller: Caller, organizationId: string, projectId: string): string[] {
  return [...permissionsAt(caller.bindings, { kind: 'project', organizationId, projectId })];
}
