import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, encodePage } from '../../platform/http/page.ts';
import { NIL_ID, projectResourceName, tenantResourceName } from '../../platform/ids.ts';
import { last } from '../../platform/present.ts';

type Me = components['schemas']['Me'];

/** Most entries of one reply; lists give the rest page by page. */
const MAX_ORGANIZATIONS = 100;
const MAX_PROJECTS = 1000;
/** Behind every project of an organization. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The caller with their visible organizations and projects, and their rights in each. */
export async function getMe(db: Db, caller: Caller, page: string | undefined): Promise<Me> {
  const rows = await readPage(db, caller.organizationIds, decodePage(page, ['uuid', 'uuid']));
  const bindings = Map.groupBy(caller.bindings, ({ organizationId }) => organizationId);
  const listed = Map.groupBy(rows.projects, (project) => project.organization_id);
  const { credential, userId, email, name } = caller;
  return {
    user: userId === null ? null : { id: userId, email, name },
    service_account: userId === null ? { id: caller.id, name } : null,
    csrf_token: credential.kind === 'sign_in' ? credential.csrfToken : null,
    platform_permissions: [...permissionsAt(bindings.get(null) ?? [], atPlatform)],
    next_page: rows.nextPage,
    organizations: rows.organizations.map(({ id, name: organizationName }) => {
      const own = bindings.get(id) ?? [];
      return {
        id,
        name: organizationName,
        resource_name: tenantResourceName(id, 'organization', id),
        permissions: [...permissionsAt(own, { kind: 'tenant', organizationId: id })],
        projects: (listed.get(id) ?? [])
          .map((project) => ({
            id: project.id,
            name: project.name,
            resource_name: projectResourceName(id, project.id, 'project', project.id),
            permissions: [
              ...permissionsAt(own, { kind: 'project', organizationId: id, projectId: project.id }),
            ],
          }))
          .filter(({ permissions }) => permissions.length > 0),
      };
    }),
  };
}

/** After the organization and project of a cursor; an organization without more projects is named by its last id. */
async function readPage(db: Db, all: readonly string[], after: string[] | null) {
  const [organizationId, projectId] = after ?? [NIL_ID, NIL_ID];
  const remaining = all
    .filter((id) => id > organizationId! || (id === organizationId && projectId !== LAST_ID))
    .toSorted();
  const ids = remaining.slice(0, MAX_ORGANIZATIONS);
  const projects = await db
    .selectFrom('projects')
    .selectAll()
    .where('organization_id', 'in', [...ids, NIL_ID])
    .where(sql<boolean>`(organization_id, id) > (${organizationId}, ${projectId})`)
    .orderBy('organization_id')
    .orderBy('id')
    .limit(MAX_PROJECTS + 1)
    .execute();
  const cut = projects.length > MAX_PROJECTS ? projects[MAX_PROJECTS - 1]! : null;
  const named = cut ? ids.filter((id) => id <= cut.organization_id) : ids;
  const organizations = await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', 'in', [...named, NIL_ID])
    .orderBy('id')
    .execute();
  const more = remaining.length > ids.length ? [last(ids, 'organization'), LAST_ID] : null;
  const next = cut ? [cut.organization_id, cut.id] : more;
  return {
    organizations,
    projects: projects.slice(0, MAX_PROJECTS),
    nextPage: next && encodePage(next),
  };
}
