import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { requireInProject, type Caller } from '../../../../platform/auth/caller.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { fromCursor } from '../../../../platform/db/given.ts';
import { notFound } from '../../../../platform/http/problem.ts';
import { decodePage, toPage, type Page } from '../../../../platform/http/page.ts';
import { projectResourceName } from '../../../../platform/ids.ts';
import type { RegistryRight } from './repositories.ts';

type Described = components['schemas']['RegistryRepository'];

interface ProjectRepository {
  id: string;
  name: string;
  organization_id: string;
  project_id: string;
  created_at: Date;
  tags: number;
  manifests: number;
  bytes: string;
}

/** Repositories of projects with what is in them; the platform's own have no project. */
function describedRepositories(tx: Tx) {
  return tx
    .selectFrom('registry_repositories as r')
    .select(['r.id', 'r.name', 'r.created_at'])
    .select([
      sql<string>`r.organization_id`.as('organization_id'),
      sql<string>`r.project_id`.as('project_id'),
      sql<number>`(select count(*)::int from registry_tags t where t.repository_id = r.id)`.as('tags'),
      sql<number>`(select count(*)::int from registry_manifests m where m.repository_id = r.id)`.as(
        'manifests',
      ),
      sql<string>`(select coalesce(sum(b.bytes), 0) from registry_blobs b where b.repository_id = r.id)`.as(
        'bytes',
      ),
    ])
    .where('r.project_id', 'is not', null)
    .where('r.deleted_at', 'is', null);
}

export async function listRepositories(
  tx: Tx,
  query: { project_id: string; limit: number; page?: string },
): Promise<Page<Described>> {
  const after = decodePage(query.page, ['text']);
  const rows = await describedRepositories(tx)
    .where('r.project_id', '=', query.project_id)
    .$call(fromCursor(after, (q, [name]) => q.where('r.name', '>', name)))
    .orderBy('r.name')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.name]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

/** A repository in which the caller has the right, by its id. */
export async function findById(
  tx: Tx,
  caller: Caller,
  right: RegistryRight,
  id: string,
): Promise<ProjectRepository> {
  const row = await describedRepositories(tx).where('r.id', '=', id).executeTakeFirst();
  if (!row) throw notFound();
  return requireInProject(caller, right, row);
}

export function describe(row: ProjectRepository): Described {
  return {
    id: row.id,
    name: row.name,
    path: `${row.project_id}/${row.name}`,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'registry_repository', row.id),
    organization_id: row.organization_id,
    project_id: row.project_id,
    tags: row.tags,
    manifests: row.manifests,
    bytes: Number(row.bytes),
    created_at: row.created_at.toISOString(),
  };
}
