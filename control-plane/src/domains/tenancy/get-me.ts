import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import type { Db } from '../../platform/db/database.ts';
import { resourceName } from '../../platform/ids.ts';

type Me = components['schemas']['Me'];

/** The caller with every organization and project they may see, and their rights in each. */
export async function getMe(db: Db, caller: Caller): Promise<Me> {
  const organizationIds = [...new Set(caller.bindings.flatMap((b) => b.organizationId ?? []))];
  const organizations =
    organizationIds.length === 0
      ? []
      : await db
          .selectFrom('organizations')
          .selectAll()
          .where('id', 'in', organizationIds)
          .orderBy('id')
          .execute();
  const projects =
    organizationIds.length === 0
      ? []
      : await db
          .selectFrom('projects')
          .selectAll()
          .where('organization_id', 'in', organizationIds)
          .orderBy('id')
          .execute();
  return {
    user: { id: caller.userId, email: caller.email, name: caller.name },
    csrf_token: caller.credential.kind === 'session' ? caller.credential.csrfToken : null,
    platform_permissions: [...permissionsAt(caller.bindings, { kind: 'platform' })],
    organizations: organizations.map((organization) => ({
      id: organization.id,
      name: organization.name,
      permissions: [
        ...permissionsAt(
          caller.bindings.filter((b) => b.scope === 'tenant'),
          { kind: 'project', organizationId: organization.id, projectId: '' },
        ),
      ],
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
          resource_name: resourceName({
            region: 'global',
            organizationId: project.organization_id,
            projectId: project.id,
            resourceType: 'project',
            resourceId: project.id,
          }),
          permissions,
        })),
    })),
  };
}

function projectPermissions(caller: Caller, organizationId: string, projectId: string): string[] {
  return [...permissionsAt(caller.bindings, { kind: 'project', organizationId, projectId })];
}
