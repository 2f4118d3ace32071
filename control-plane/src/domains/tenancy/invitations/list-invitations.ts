import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeInvitation, INVITATION_COLUMNS } from './describe-invitation.ts';

export async function listInvitations(
  tx: Tx,
  now: Date,
  query: { organization_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['Invitation'][]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('invitations')
    .select(INVITATION_COLUMNS)
    .where('organization_id', '=', query.organization_id)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeInvitation(row, now)), next_page: page.next_page };
}
