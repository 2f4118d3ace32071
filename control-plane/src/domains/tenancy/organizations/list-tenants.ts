import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeOrganization } from './find-organization.ts';

/** Most projects of a tenant in one reply to an operator. */
const PROJECTS_SHOWN = 100;

/** Every organization of the platform, for operators. */
export async function listTenants(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['Tenant']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'created_at'])
    .where('deleted_at', 'is', null)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const projects = await projectsOf(
    tx,
    page.rows.map(({ id }) => id),
  );
  const items = page.rows.map((row) => ({
    ...describeOrganization(row),
    projects: (projects.get(row.id) ?? []).slice(0, PROJECTS_SHOWN),
  }));
  return { items, next_page: page.next_page };
}

async function projectsOf(
  tx: Tx,
  organizationIds: string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('projects')
    .select(['id', 'name', 'organization_id'])
    .where('organization_id', 'in', organizationIds)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  const grouped = Map.groupBy(rows, ({ organization_id: organizationId }) => organizationId);
  return new Map([...grouped].map(([key, own]) => [key, own.map(({ id, name }) => ({ id, name }))]));
}
