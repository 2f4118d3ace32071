import { timingSafeEqual } from 'node:crypto';
import '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { auditActor } from '../../../platform/audit/actor.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { OperationObject } from '../../../platform/http/operation.ts';
import {
  CredentialRefusedError,
  type CredentialOwner,
} from '../../../platform/http/admission/credential-refused.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { TokenRejectedError } from '../../../platform/auth/access-token.ts';
import type { BearerTokens } from '../../../platform/auth/bearer-tokens.ts';
import { scopeOf, type Binding, type Caller, type Credential } from '../../../platform/auth/caller.ts';
import { isAppInstanceToken, openAppInstanceToken } from '../../../platform/auth/app-instance-token.ts';
import {
  API_KEYS,
  APP_INSTANCE,
  bindingsOfInstance,
  bindingsOfKey,
  findBySecret,
  findCredential,
  IDENTITY,
  SERVICE_ACCOUNT_TOKENS,
  SIGN_IN,
} from './credentials.ts';
import { recordUse } from './record-use.ts';
import { explainRetiredCredential } from './explain-retired-credential.ts';
import { grantedBindings, type PrincipalRow } from '../../../platform/auth/granted-bindings.ts';
import { NIL_ID } from '../../../platform/ids.ts';
import { hashSecret, kindOfSecret } from '../../../platform/auth/secrets.ts';
import type { Sealer } from '../../../platform/keys/seal.ts';
import type { SignInCookies } from '../../../platform/auth/sign-in-cookies.ts';
import { browserDetails, recordSignInUse } from '../../../platform/auth/sign-ins.ts';

const SEND_ONE = 'Send a valid API key or token as a bearer token, or sign in.';

/** Credentials accepted besides our own keys and tokens. */
export interface CredentialSources {
  tokens: BearerTokens;
  /** Opens the tokens of app instances. */
  sealer: Sealer;
  signIns: { cookies: SignInCookies; idleSeconds(): number };
}

/** Authenticates a request of the public API; runs before validation. */
export async function authenticate(
  database: Database,
  request: FastifyRequest,
  operation: OperationObject,
  { tokens, signIns, sealer }: Partial<CredentialSources> = {},
): Promise<Caller> {
  if (operation.security?.length === 0) return anonymous();
  const { authorization } = request.headers;
  if (authorization !== undefined)
    return await byBearer(database, authorization, request, operation, { tokens, sealer });
  const signIn = signIns?.cookies.signIn(request);
  if (signIns && signIn) return await bySignIn(database, signIn, signIns.idleSeconds(), request, operation);
  throw unauthenticated();
}

async function byBearer(
  database: Database,
  authorization: string,
  request: FastifyRequest,
  operation: OperationObject,
  { tokens, sealer }: { tokens: BearerTokens | undefined; sealer: Sealer | undefined },
): Promise<Caller> {
  const bearer = /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '';
  if (sealer && isAppInstanceToken(bearer))
    return await byAppInstance(database, sealer, bearer, request, operation);
  switch (kindOfSecret(bearer)) {
    case 'api_key':
      return await byApiKey(database, bearer, request, operation);
    case 'service_account_token':
      return await byServiceAccountToken(database, bearer, request, operation);
    default:
      if (!tokens || !isJwt(bearer)) throw unauthenticated();
      return await byAccessToken(database, tokens, bearer, operation);
  }
}

function isJwt(bearer: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(bearer);
}

async function byAccessToken(
  { identities }: Database,
  tokens: BearerTokens,
  token: string,
  operation: OperationObject,
): Promise<Caller> {
  try {
    const { issuer, subject, ofPlatform, issuedAt, expiresAt, signUp } = await tokens.holderOf(token);
    const find = () => findCredential(identities, IDENTITY, issuer, subject, ofPlatform, issuedAt);
    const known = await find();
    if (!known) await signUp();
    const row = known ?? (await find());
    if (!row) throw unauthenticated();
    const credential = { kind: 'access_token', issuer, subject, ofPlatform, issuedAt, expiresAt } as const;
    return callerOf(row, grantedBindings(row.bindings, null), credential, operation);
  } catch (error) {
    if (!(error instanceof TokenRejectedError)) throw error;
    throw new Problem('unauthenticated', `The access token is not accepted: ${error.message}.`, {
      cause: error,
    });
  }
}

async function byApiKey(
  { identities }: Database,
  key: string,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  const hash = hashSecret(key);
  const row = await findBySecret(identities, API_KEYS, hash);
  if (!row)
    throw (await explainRetiredCredential(identities, 'api_key', hash, SEND_ONE)) ?? unauthenticated();
  if (!row.used_lately) note(recordUse(identities, 'api_key', row.credential_id), request);
  const organizations = row.organizations.filter((id) => id === row.organization_id);
  const credential = { kind: 'api_key', id: row.credential_id, scopes: row.scopes } as const;
  const caller = callerOf({ ...row, organizations }, bindingsOfKey(row), credential, operation);
  if (row.scopes !== null) refuseOwnAffairs(request, operation, caller);
  return caller;
}

async function byServiceAccountToken(
  { identities }: Database,
  token: string,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  const hash = hashSecret(token);
  const row = await findBySecret(identities, SERVICE_ACCOUNT_TOKENS, hash);
  if (!row)
    throw (
      (await explainRetiredCredential(identities, 'service_account_token', hash, SEND_ONE)) ??
      unauthenticated()
    );
  if (!row.used_lately) note(recordUse(identities, 'service_account_token', row.credential_id), request);
  const credential = { kind: 'service_account_token', id: row.credential_id } as const;
  return callerOf(row, grantedBindings(row.bindings, null), credential, operation);
}

async function byAppInstance(
  { identities }: Database,
  sealer: Sealer,
  token: string,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  const id = openAppInstanceToken(sealer, token);
  const row = id === null ? null : await findCredential(identities, APP_INSTANCE, id);
  if (id === null || !row) throw unauthenticated();
  const principal = { ...row, organizations: row.organizations.filter((one) => one === row.organization_id) };
  const caller = callerOf(principal, bindingsOfInstance(row), { kind: 'app_instance_token', id }, operation);
  if (operation['x-permission'] === 'self')
    throw new CredentialRefusedError(
      'forbidden',
      'An app instance may not use operations about its own account.',
      {
        refused: refusedOf(caller, request),
        reason: 'limited to what its manifest declares',
      },
    );
  return caller;
}

async function bySignIn(
  { identities }: Database,
  signIn: string,
  idleSeconds: number,
  request: FastifyRequest,
  operation: OperationObject,
): Promise<Caller> {
  const idHash = hashSecret(signIn);
  const row = await findCredential(identities, SIGN_IN, idHash, idleSeconds);
  if (!row) throw unauthenticated();
  if (!row.used_lately) note(recordSignInUse(identities, idHash, browserDetails(request)), request);
  const credential = { kind: 'sign_in', csrfToken: row.csrf_token, idHash, idleSeconds } as const;
  const caller = callerOf(row, grantedBindings(row.bindings, null), credential, operation);
  if (!isRead(request)) requireCsrfToken(request, row.csrf_token, caller);
  return caller;
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** A key with scopes cannot use operations without a permission, such as creating another key. */
function refuseOwnAffairs(request: FastifyRequest, operation: OperationObject, caller: Caller): void {
  if (isRead(request) || operation['x-permission'] !== 'self') return;
  throw new CredentialRefusedError(
    'forbidden',
    'An API key with scopes may not change what belongs to its owner.',
    {
      refused: refusedOf(caller, request),
      reason: 'limited to its scopes',
    },
  );
}

function refusedOf(caller: Caller, request: FastifyRequest): CredentialOwner {
  const [only, ...others] = caller.organizationIds;
  const { actorKind = 'user', credentialId = null } = auditActor(caller, request);
  return {
    actorUserId: caller.actorId,
    actorKind,
    actorRole: caller.role,
    credentialId,
    organizationId: only !== undefined && others.length === 0 ? only : null,
  };
}

/** The response does not wait for this write, and does not fail with it. */
function note(noted: Promise<void>, { log }: FastifyRequest): void {
  noted.catch((error: unknown) => log.warn({ err: error }, 'the use of a credential could not be recorded'));
}

function requireCsrfToken(request: FastifyRequest, expected: string, caller: Caller): void {
  const sent = request.headers['x-csrf-token'];
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  const wanted = Buffer.from(expected);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    const detail = 'Send X-CSRF-Token from GET /api/v1/me with mutations from a browser.';
    throw new CredentialRefusedError('csrf_token_invalid', detail, {
      refused: refusedOf(caller, request),
      reason: 'without its CSRF token',
    });
  }
}

function callerOf(
  { id, user_id, owner_user_id, email, name, organizations }: PrincipalRow,
  bindings: Binding[],
  credential: Credential,
  operation: OperationObject,
): Caller {
  const groups = [...new Set(bindings.map((binding) => binding.group))].join(',') || 'none';
  const principal = { id, bindings, organizationIds: organizations };
  return {
    ...principal,
    actorId: id,
    userId: user_id,
    ownerUserId: owner_user_id,
    role: user_id === null ? `service_account:${groups}` : groups,
    email,
    name,
    credential,
    authorised: false,
    scope: scopeOf(principal, operation['x-permission']),
  };
}

function anonymous(): Caller {
  return {
    id: NIL_ID,
    actorId: null,
    userId: null,
    ownerUserId: null,
    role: 'anonymous',
    email: '',
    name: '',
    organizationIds: [],
    bindings: [],
    credential: { kind: 'api_key', id: NIL_ID, scopes: [] },
    authorised: false,
    scope: { role: 'gpuaas_tenant' },
  };
}

function unauthenticated(): Problem {
  return new Problem('unauthenticated', SEND_ONE);
}
