import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeSshKey } from './find-ssh-key.ts';

export async function listSshKeys(
  tx: Tx,
  of: { userId: string } | { projectId: string },
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['SshKey']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('ssh_keys')
    .selectAll()
    .where((e) => ('userId' in of ? e('user_id', '=', of.userId) : e('project_id', '=', of.projectId)))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeSshKey), next_page: page.next_page };
}
