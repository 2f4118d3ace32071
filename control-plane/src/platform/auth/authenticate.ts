import { timingSafeEqual } from 'node:crypto';
import '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import type { Db } from '../db/database.ts';
import type { OperationObject } from '../http/operation.ts';
import { Problem } from '../http/problem.ts';
import { loadBindings, type Caller } from './caller.ts';
import { hashSecret, isWellFormedApiKey } from './secrets.ts';
import { SESSION_COOKIE } from './sessions.ts';

const ANONYMOUS = '00000000-0000-0000-0000-000000000000';

/** The caller behind a request of the public API; runs before validation. */
export async function authenticate(db: Db, request: FastifyRequest, operation: OperationObject): Promise<Caller> {
  if (operation.security?.length === 0) return anonymous();
  const { authorization } = request.headers;
  if (authorization !== undefined) return await byApiKey(db, authorization);
  const session = request.cookies[SESSION_COOKIE];
  if (session) return await bySession(db, session, request);
  throw unauthenticated();
}

/** Checks a session or key again for long-lived streams. */
export async function stillAuthenticated(db: Db, caller: Caller): Promise<boolean> {
  const now = new Date();
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

async function byApiKey(db: Db, authorization: string): Promise<Caller> {
  const key = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (!key || !isWellFormedApiKey(key)) throw unauthenticated();
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(['api_keys.id', 'users.id as user_id', 'users.email', 'users.name'])
    .where('api_keys.secret_hash', '=', hashSecret(key))
    .where('api_keys.revoked_at', 'is', null)
    .where((e) => e.or([e('api_keys.expires_at', 'is', null), e('api_keys.expires_at', '>', new Date())]))
    .executeTakeFirst();
  if (!row) throw unauthenticated();
  return await callerOf(db, row, { kind: 'api_key', id: row.id });
}

async function bySession(db: Db, session: string, request: FastifyRequest): Promise<Caller> {
  const idHash = hashSecret(session);
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['users.id as user_id', 'users.email', 'users.name', 'sessions.csrf_token'])
    .where('sessions.id_hash', '=', idHash)
    .where('sessions.expires_at', '>', new Date())
    .executeTakeFirst();
  if (!row) throw unauthenticated();
  if (request.method !== 'GET' && request.method !== 'HEAD') requireCsrfToken(request, row.csrf_token);
  return await callerOf(db, row, { kind: 'session', csrfToken: row.csrf_token, idHash });
}

function requireCsrfToken(request: FastifyRequest, expected: string): void {
  const sent = request.headers['x-csrf-token'];
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  const wanted = Buffer.from(expected);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new Problem('csrf_token_invalid', 'Send X-CSRF-Token from GET /api/v1/me with mutations of a session.');
  }
}

async function callerOf(
  db: Db,
  user: { user_id: string; email: string; name: string },
  credential: Caller['credential'],
): Promise<Caller> {
  const bindings = await loadBindings(db, user.user_id);
  return {
    id: user.user_id,
    userId: user.user_id,
    role: bindings.map((binding) => binding.group).join(',') || 'none',
    email: user.email,
    name: user.name,
    bindings,
    credential,
    authorised: false,
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
  };
}

function unauthenticated(): Problem {
  return new Problem('unauthenticated', 'Send a valid API key as a bearer token, or sign in.');
}
