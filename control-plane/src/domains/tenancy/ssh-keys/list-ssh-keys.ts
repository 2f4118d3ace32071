import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeSshKey } from './find-ssh-key.ts';

export async function listSshKeys(
  tx: Tx,
  of: { userId: string } | { projectId: string },
  query: { limit: number; page?: string },
): Promise<{ items: components['schemas']['SshKey'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('ssh_keys')
    .selectAll()
    .where((e) => ('userId' in of ? e('user_id', '=', of.userId) : e('project_id', '=', of.projectId)))
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeSshKey), next_page: page.next_page };
}
