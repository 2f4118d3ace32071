import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { API_KEY_COLUMNS, describeApiKey } from './find-api-key.ts';

/** Newest first: keys of one person, or of all members of a tenant. */
export async function listApiKeys(
  tx: Tx,
  now: Date,
  of: { userId: string } | { organizationId: string },
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['ApiKey']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('api_keys')
    .select(API_KEY_COLUMNS)
    .where((e) =>
      'userId' in of ? e('user_id', '=', of.userId) : e('organization_id', '=', of.organizationId),
    )
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeApiKey(row, now)), next_page: page.next_page };
}
