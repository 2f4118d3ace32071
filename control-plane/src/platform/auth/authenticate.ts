import { timingSafeEqual } from 'node:crypto';
import '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { permissionGroups } from '@gpuaas/contracts/generated/permissions.ts';
import type pg from 'pg';
import type { Database, Db } from '../db/database.ts';
import type { OperationObject } from '../http/operation.ts';
import { Problem } from '../http/problem.ts';
import { scopeOf, type Binding, type Caller } from './caller.ts';
import { hashSecret, isWellFormedApiKey } from './secrets.ts';
import { SESSION_COOKIE } from './sessions.ts';
import { systemClock } from '../clock.ts';

const ANONYMOUS = '00000000-0000-0000-0000-000000000000';

interface CredentialRow {
  user_id: string;
  email: string;
  name: string;
  bindings: Binding[];
}

const USER_WITH_BINDINGS = `u.id as user_id, u.email, u.name, coalesce((
    select json_agg(json_build_object('group', b.permission_group, 'scope', b.scope,
      'organizationId', b.organization_id, 'projectId', b.project_id))
    from permission_bindings b where b.user_id = u.id), '[]') as bindings`;

/** Credential, user and rights in one round trip, read anew for each request: a revocation holds at the next one. */
const API_KEY = {
  name: 'authenticate-api-key',
  text: `select k.id as key_id, ${USER_WITH_BINDINGS} from api_keys k join users u on u.id = k.user_id
    where k.secret_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
};
const SESSION = {
  name: 'authenticate-session',
  text: `select s.csrf_token, ${USER_WITH_BINDINGS} from sessions s join users u on u.id = s.user_id
    where s.id_hash = $1 and s.expires_at > now()`,
};

async function findCredential<T>(
  pool: pg.Pool,
  statement: { name: string; text: string },
  hash: Buffer,
): Promise<CredentialRow & T> {
  const { rows } = await pool.query<CredentialRow & T>({ ...statement, values: [hash] });
  if (!rows[0]) throw unauthenticated();
  return rows[0];
}

/** The caller behind a request of the public API; runs before validation. */
export async function authenticate(
  database: Database,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  if (operation.security?.length === 0) return anonymous();
  const { authorization } = request.headers;
  if (authorization !== undefined) return await byApiKey(database, authorization, operation);
  const session = request.cookies[SESSION_COOKIE];
  if (session) return await bySession(database, session, request, operation);
  throw unauthenticated();
}

/** Checks a session or key again for long-lived streams. */
export async function stillAuthenticated(db: Db, caller: Caller): Promise<boolean> {
  const now = systemClock.now();
  if (caller.credential.kind === 'session') {
    const row = await db
      .selectFrom('sessions')
      .select('user_id')
      .where('id_hash', '=', caller.credential.idHash)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    return row !== undefined;
  }
  const row = await db
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', caller.credential.id)
    .where('revoked_at', 'is', null)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    .executeTakeFirst();
  return row !== undefined;
}

async function byApiKey(
  { identities }: Database,
  authorization: string,
  operation: OperationObject,
): Promise<Caller> {
  const key = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (!key || !isWellFormedApiKey(key)) throw unauthenticated();
  const row = await findCredential<{ key_id: string }>(identities, API_KEY, hashSecret(key));
  return callerOf(row, { kind: 'api_key', id: row.key_id }, operation);
}

async function bySession(
  { identities }: Database,
  session: string,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  const idHash = hashSecret(session);
  const row = await findCredential<{ csrf_token: string }>(identities, SESSION, idHash);
  if (request.method !== 'GET' && request.method !== 'HEAD') requireCsrfToken(request, row.csrf_token);
  return callerOf(row, { kind: 'session', csrfToken: row.csrf_token, idHash }, operation);
}

function requireCsrfToken(request: FastifyRequest, expected: string): void {
  const sent = request.headers['x-csrf-token'];
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  const wanted = Buffer.from(expected);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new Problem(
      'csrf_token_invalid',
      'Send X-CSRF-Token from GET /api/v1/me with mutations of a session.',
    );
  }
}

function callerOf(row: CredentialRow, credential: Caller['credential'], operation: OperationObject): Caller {
  const bindings = row.bindings.filter(({ group }) => group in permissionGroups);
  return {
    id: row.user_id,
    userId: row.user_id,
    role: bindings.map((binding) => binding.group).join(',') || 'none',
    email: row.email,
    name: row.name,
    bindings,
    credential,
    authorised: false,
    scope: scopeOf(row.user_id, bindings, operation['x-permission']),
  };
}

function anonymous(): Caller {
  return {
    id: ANONYMOUS,
    userId: ANONYMOUS,
    role: 'anonymous',
    email: '',
    name: '',
    bindings: [],
    credential: { kind: 'api_key', id: ANONYMOUS },
    authorised: false,
    scope: { role: 'gpuaas_tenant' },
  };
}

function unauthenticated(): Problem {
  return new Problem('unauthenticated', 'Send a valid API key as a bearer token, or sign in.');
}
