import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { decodePage, toPage } from '../../../platform/http/page.ts';
import type { ArtifactRow } from './move-artifact.ts';
import type { ArtifactState } from './states.ts';

export async function listArtifacts(
  tx: Tx,
  query: { state?: ArtifactState; limit: number; page?: string },
): Promise<{ rows: ArtifactRow[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('app_artifacts')
    .selectAll()
    .$call(given(query.state, (q, state) => q.where('state', '=', state)))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  return toPage(rows, query.limit, (row) => [row.id]);
}
