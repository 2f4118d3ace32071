import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import type { NodeEnrolments } from '../../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { platformResourceName } from '../../../platform/ids.ts';

type NodeEnrolment = components['schemas']['NodeEnrolment'];
type EnrolmentRow = Omit<Selectable<NodeEnrolments>, 'token_hash' | 'authority_id'>;

/** Visible columns: all but the hash of the token. */
export const ENROLMENT_COLUMNS = [
  'id',
  'hostname',
  'node_id',
  'region',
  'pool',
  'rack',
  'node_family',
  'created_by',
  'created_at',
  'expires_at',
  'used_at',
  'revoked_at',
] as const;

export async function listEnrolments(
  db: Db | Tx,
  now: Date,
  query: { limit: number; page?: string },
): Promise<Page<NodeEnrolment>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_enrolments')
    .select(ENROLMENT_COLUMNS)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeEnrolment(row, now)), next_page: page.next_page };
}

export function describeEnrolment(row: EnrolmentRow, now: Date): NodeEnrolment {
  return {
    id: row.id,
    resource_name: platformResourceName(row.region, 'node_enrolment', row.id),
    hostname: row.hostname,
    node_id: row.node_id,
    region: row.region,
    state: row.used_at ? 'used' : row.revoked_at ? 'revoked' : row.expires_at <= now ? 'expired' : 'open',
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    used_at: row.used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}
