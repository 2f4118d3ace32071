import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '@gpuaas/contracts/is-record';
import type { Credential } from '../../../platform/auth/caller.ts';
import { keptCredential, parseCredential } from '../../../platform/auth/serialize-credential.ts';
import type { Services } from '../../../platform/services.ts';

/** `__Host-`: no other host can set or read them, also not one under the same domain. */
const SIGNED_IN = '__Host-gpuaas_app';
const ATTEMPT = '__Host-gpuaas_try';
const ATTEMPT_SECONDS = 300;
const NONCE = /^[A-Za-z0-9_-]{43}$/;

/** A person whom the console has signed in to one app. Rights are read when they are used. */
export interface AppSignIn {
  actorId: string;
  credential: Credential;
}

/** What a cookie of an app stands for: a sign-in, or a share link that was opened. */
export type AppCookie = AppSignIn | { linkId: string };

export function signedInCookie(headers: IncomingHttpHeaders): string | null {
  return cookieOf(headers, SIGNED_IN);
}

/** The nonce that ties a ticket to the browser that asked for it. */
export function attemptNonce(headers: IncomingHttpHeaders): string | null {
  const nonce = cookieOf(headers, ATTEMPT);
  return nonce !== null && NONCE.test(nonce) ? nonce : null;
}

export function setAttempt(nonce: string): string {
  return written(ATTEMPT, nonce, ATTEMPT_SECONDS);
}

export function sealCookie(
  { sealer, clock }: Pick<Services, 'sealer' | 'clock'>,
  label: string,
  cookie: AppCookie,
  seconds: number,
): string {
  const expiresAt = clock.now().getTime() + seconds * 1000;
  const kept = 'linkId' in cookie ? cookie : { ...cookie, credential: keptCredential(cookie.credential) };
  const content = JSON.stringify({ ...kept, expiresAt });
  return written(SIGNED_IN, sealer.seal('app_cookie', content, label).toString('base64url'), seconds);
}

export function clearCookie(): string {
  return written(SIGNED_IN, '', 0);
}

/** Null for a cookie that is not ours, is for another app, or has expired. */
export function openCookie(
  { sealer, clock }: Pick<Services, 'sealer' | 'clock'>,
  label: string,
  cookie: string,
): AppCookie | null {
  try {
    const sealed = Buffer.from(cookie, 'base64url');
    const content: unknown = JSON.parse(sealer.open('app_cookie', sealed, label));
    if (!isRecord(content) || !(Number(content['expiresAt']) > clock.now().getTime())) return null;
    const { linkId } = content;
    if (typeof linkId === 'string') return { linkId };
    return { actorId: String(content['actorId']), credential: parseCredential(content['credential']) };
  } catch {
    return null;
  }
}

/** Browsers keep `Secure` cookies of `localhost` names over plain http, too. */
function written(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
}

/** Null if the cookie is missing or comes twice. */
function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | null {
  const values = cookie
    .split(/;\s*/)
    .flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
  return values.length === 1 ? (values[0] ?? null) : null;
}
