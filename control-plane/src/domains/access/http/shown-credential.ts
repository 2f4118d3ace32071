import type { IncomingHttpHeaders } from 'node:http';
import type pg from 'pg';
import {
  API_KEYS,
  findBySecret,
  findCredential,
  SERVICE_ACCOUNT_TOKENS,
  SIGN_IN,
} from '../../tenancy/credentials/credentials.ts';
import { hashSecret, kindOfSecret } from '../../../platform/auth/secrets.ts';
import type { Services } from '../../../platform/services.ts';
import { openCookie, signedInCookie } from './app-cookies.ts';
import { ANYBODY } from './app-door.ts';
import type { AppHolder } from './app-visits.ts';

/** What a request shows of who sends it, before anything is looked up. */
export type ShownCredential = { by: 'key' | 'cookie'; secret: string } | { by: 'nothing' };

/** Somebody who shows nothing; only a public app serves them. */
const NOBODY: AppHolder = { actorId: ANYBODY, userId: null, credential: null };

/**
 * A key of ours in `Authorization`, or in `X-Gpuaas-Key` where the app has a use of its own for `Authorization`.
 * Anything else in `Authorization` is the app's.
 */
export function shownKey(headers: IncomingHttpHeaders): ShownCredential | null {
  const own = headers['x-gpuaas-key'];
  if (own !== undefined) return { by: 'key', secret: String(own) };
  const bearer = /^\s*bearer\s+(gp[a-z]_\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  return bearer === undefined ? null : { by: 'key', secret: bearer };
}

export function shownCookie(headers: IncomingHttpHeaders): ShownCredential | null {
  const secret = signedInCookie(headers);
  return secret === null ? null : { by: 'cookie', secret };
}

/** The holder of the credential; null if it is not valid (any more). */
export async function holderOf(
  services: Pick<Services, 'database' | 'sealer' | 'clock'>,
  label: string,
  shown: ShownCredential,
): Promise<AppHolder | null> {
  switch (shown.by) {
    case 'key':
      return await holderOfKey(services.database.identities, shown.secret);
    case 'cookie':
      return await holderOfCookie(services, label, shown.secret);
    case 'nothing':
      return NOBODY;
  }
}

async function holderOfKey(identities: pg.Pool, secret: string): Promise<AppHolder | null> {
  const hash = hashSecret(secret);
  switch (kindOfSecret(secret)) {
    case 'api_key': {
      const row = await findBySecret(identities, API_KEYS, hash);
      if (!row) return null;
      const credential = { kind: 'api_key', id: row.credential_id, scopes: row.scopes } as const;
      return { actorId: row.id, userId: row.user_id, credential };
    }
    case 'service_account_token': {
      const row = await findBySecret(identities, SERVICE_ACCOUNT_TOKENS, hash);
      if (!row) return null;
      return {
        actorId: row.id,
        userId: row.user_id,
        credential: { kind: 'service_account_token', id: row.credential_id },
      };
    }
    default:
      return null;
  }
}

async function holderOfCookie(
  services: Pick<Services, 'database' | 'sealer' | 'clock'>,
  label: string,
  cookie: string,
): Promise<AppHolder | null> {
  const signIn = openCookie(services, label, cookie);
  if (signIn === null) return null;
  // Whether the link still counts, the door reads with the app.
  if ('linkId' in signIn) return { actorId: signIn.linkId, userId: null, credential: null };
  if (signIn.credential.kind !== 'sign_in') return null;
  const { idHash, idleSeconds } = signIn.credential;
  const row = await findCredential(services.database.identities, SIGN_IN, idHash, idleSeconds);
  return row?.id === signIn.actorId ? { ...signIn, userId: row.user_id } : null;
}
