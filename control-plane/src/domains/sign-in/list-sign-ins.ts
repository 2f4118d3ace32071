import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { withRole } from '../../platform/db/scope.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

type SignIn = components['schemas']['SignIn'];

/** The caller's own valid browser sign-ins, newest first. */
export async function listSignIns(
  tx: Tx,
  caller: Caller,
  idleSince: Date,
  query: { limit: number; page?: string },
): Promise<Page<SignIn>> {
  if (caller.userId === null) return { items: [], next_page: null };
  const { userId } = caller;
  const before = decodePage(query.page, ['uuid']);
  const rows = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .selectFrom('sign_ins')
      .select(['id', 'id_hash', 'created_at', 'last_used_at', 'expires_at', 'user_agent', 'ip'])
      .where('user_id', '=', userId)
      .where('expires_at', '>', (q) => q.fn<Date>('now'))
      .where('last_used_at', '>', idleSince)
      .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
      .orderBy('id', 'desc')
      .limit(query.limit + 1)
      .execute(),
  );
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const { credential } = caller;
  const items = page.rows.map((row) => ({
    id: row.id,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    user_agent: row.user_agent,
    ip: row.ip,
    current: credential.kind === 'sign_in' && credential.idHash.equals(row.id_hash),
  }));
  return { items, next_page: page.next_page };
}
