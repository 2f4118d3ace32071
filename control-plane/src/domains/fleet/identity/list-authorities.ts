import { X509Certificate } from 'node:crypto';
import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { fingerprintOf } from '../../../platform/keys/authority.ts';

type NodeAuthority = components['schemas']['NodeAuthority'];

const COLUMNS = ['id', 'certificate_pem', 'state', 'created_at', 'retired_at'] as const;

export async function listAuthorities(
  db: Db | Tx,
  now: Date,
  query: { limit: number; page?: string },
): Promise<Page<NodeAuthority>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('node_authorities')
    .select(COLUMNS)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const dependants = await usageByAuthority(db, now);
  return { items: page.rows.map((row) => describe(row, dependants)), next_page: page.next_page };
}

export async function getAuthority(db: Db | Tx, now: Date, id: string): Promise<NodeAuthority> {
  const row = await db.selectFrom('node_authorities').select(COLUMNS).where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound();
  return describe(row, await usageByAuthority(db, now));
}

export interface AuthorityUsage {
  hosts: number;
  valid_certificates: number;
  open_enrolments: number;
}

const NOBODY: AuthorityUsage = { hosts: 0, valid_certificates: 0, open_enrolments: 0 };

/** Hosts and tokens that depend on a CA. A host counts for the CA of its newest valid certificate. */
export async function usageByAuthority(db: Db | Tx, now: Date): Promise<Map<string, AuthorityUsage>> {
  const { rows } = await sql<AuthorityUsage & { authority_id: string }>`
    with valid as (
      select authority_id, node_id,
        row_number() over (partition by node_id order by authority_id desc) = 1 as newest
      from node_certificates where revoked_at is null and expires_at > ${now}
    ), open as (
      select authority_id from node_enrolments
      where used_at is null and revoked_at is null and expires_at > ${now}
    )
    select authority_id, sum(host)::int as hosts, sum(certificate)::int as valid_certificates,
      sum(enrolment)::int as open_enrolments
    from (
      select authority_id, newest::int as host, 1 as certificate, 0 as enrolment from valid
      union all
      select authority_id, 0, 0, 1 from open
    ) depending
    group by authority_id`.execute(db);
  return new Map(rows.map(({ authority_id, ...counts }) => [authority_id, counts]));
}

function describe(
  row: {
    id: string;
    certificate_pem: string;
    state: NodeAuthority['state'];
    created_at: Date;
    retired_at: Date | null;
  },
  dependants: ReadonlyMap<string, AuthorityUsage>,
): NodeAuthority {
  const certificate = new X509Certificate(row.certificate_pem);
  return {
    id: row.id,
    subject: certificate.subject,
    fingerprint: fingerprintOf(row.certificate_pem),
    state: row.state,
    created_at: row.created_at.toISOString(),
    expires_at: new Date(certificate.validTo).toISOString(),
    retired_at: row.retired_at?.toISOString() ?? null,
    ...(dependants.get(row.id) ?? NOBODY),
  };
}
