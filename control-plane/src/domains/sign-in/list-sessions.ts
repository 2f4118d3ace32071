import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';

type Session = components['schemas']['Session'];

/** The caller's own browser sessions that still hold, newest first. */
export async function listSessions(
  tx: Tx,
  caller: Caller,
  idleSince: Date,
  query: { limit: number; page?: string },
): Promise<{ items: Session[]; next_page: string | null }> {
  if (caller.userId === null) return { items: [], next_page: null };
  const { userId } = caller;
  const before = decodePage(query.page, ['uuid']);
  const rows = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .selectFrom('sessions')
      .select(['id', 'id_hash', 'created_at', 'last_used_at', 'expires_at', 'user_agent', 'ip'])
      .where('user_id', '=', userId)
      .where('expires_at', '>', (q) => q.fn<Date>('now'))
      .where('last_used_at', '>', idleSince)
      .$if(before !== null, (q) => q.where('id', '<', before![0]!))
      .orderBy('id', 'desc')
      .limit(query.limit + 1)
      .execute(),
  );
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const { credential } = caller;
  const items = page.rows.map((row) => ({
    id: row.id,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    user_agent: row.user_agent,
    ip: row.ip,
    current: credential.kind === 'session' && credential.idHash.equals(row.id_hash),
  }));
  return { items, next_page: page.next_page };
}
