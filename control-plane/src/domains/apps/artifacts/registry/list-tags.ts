import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { fromCursor } from '../../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../../platform/http/page.ts';

/** Tags with the manifests they name now. */
export async function listTags(
  tx: Tx,
  repositoryId: string,
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['RegistryTag']>> {
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('registry_tags as t')
    .innerJoin('registry_manifests as m', (join) =>
      join.onRef('m.repository_id', '=', 't.repository_id').onRef('m.digest', '=', 't.digest'),
    )
    .select(['t.name', 't.digest', 'm.media_type', 'm.artifact_type', 't.moved_by_name', 't.moved_at'])
    .select(
      sql<string>`m.bytes + (select coalesce(sum(b.bytes), 0) from registry_manifest_blobs n
        join registry_blobs b on b.repository_id = n.repository_id and b.digest = n.digest
        where n.manifest_id = m.id)`.as('bytes'),
    )
    .where('t.repository_id', '=', repositoryId)
    .$call(fromCursor(after, (q, [name]) => q.where('t.name', '>', name)))
    .orderBy('t.name')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.name]);
  const items = page.rows.map(({ moved_at: movedAt, bytes, ...row }) => ({
    ...row,
    bytes: Number(bytes),
    moved_at: movedAt.toISOString(),
  }));
  return { items, next_page: page.next_page };
}
