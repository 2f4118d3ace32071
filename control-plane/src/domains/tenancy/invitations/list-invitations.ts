import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeInvitation, INVITATION_COLUMNS } from './describe-invitation.ts';

export async function listInvitations(
  tx: Tx,
  now: Date,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Invitation']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('invitations')
    .select(INVITATION_COLUMNS)
    .where('organization_id', '=', query.organization_id)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeInvitation(row, now)), next_page: page.next_page };
}
