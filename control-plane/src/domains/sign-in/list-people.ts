import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

interface PersonRow {
  id: string;
  email: string;
  name: string;
  created_at: Date;
  sign_ins: bigint;
  sign_ins_ended_at: Date | null;
}

/** People of every tenant, for operators. Only the role that authenticates callers can read all of them. */
export async function listPeople(
  tx: Tx,
  idleSince: Date,
  query: { email?: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Person']>> {
  const after = decodePage(query.page, ['uuid'])?.[0] ?? null;
  const begin = query.email === undefined ? null : beginsWith(query.email);
  const { rows } = await withRole(tx, 'gpuaas_auth', () =>
    sql<PersonRow>`select u.id, u.email, u.name, u.created_at, u.sign_ins_ended_at,
        (select count(*) from sign_ins s where s.user_id = u.id and s.expires_at > now()
          and s.last_used_at > ${idleSince}) as sign_ins
      from users u
      where (${begin}::text is null or lower(u.email) like ${begin}) and (${after}::uuid is null or u.id > ${after})
      order by u.id limit ${query.limit + 1}`.execute(tx),
  );
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    ...row,
    sign_ins: Number(row.sign_ins),
    created_at: row.created_at.toISOString(),
    sign_ins_ended_at: row.sign_ins_ended_at?.toISOString() ?? null,
  }));
  return { items, next_page: page.next_page };
}

function beginsWith(text: string): string {
  return `${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
}
