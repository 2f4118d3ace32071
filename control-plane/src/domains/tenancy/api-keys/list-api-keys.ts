import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { API_KEY_COLUMNS, describeApiKey } from './find-api-key.ts';

/** Newest first: of one person, or of all members of a tenant. */
export async function listApiKeys(
  tx: Tx,
  now: Date,
  of: { userId: string } | { organizationId: string },
  query: { limit: number; page?: string },
): Promise<{ items: components['schemas']['ApiKey'][]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('api_keys')
    .select(API_KEY_COLUMNS)
    .where((e) =>
      'userId' in of ? e('user_id', '=', of.userId) : e('organization_id', '=', of.organizationId),
    )
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeApiKey(row, now)), next_page: page.next_page };
}
