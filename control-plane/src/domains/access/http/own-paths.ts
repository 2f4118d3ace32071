import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../../platform/http/problem.ts';
import { attemptNonce, clearCookie, sealCookie } from './app-cookies.ts';
import type { AppGateway } from './app-gateway.ts';
import { consumeAppTicket } from './app-tickets.ts';
import { redirect } from './refuse.ts';

/** Our own paths on the origin of an app; the app never sees them. */
const OWN = '/.gpuaas/';
const LOCAL_PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u;
/** The sign-in or the link behind the cookie may end earlier, and the cookie with it. */
const COOKIE_SECONDS = 12 * 3600;

export function isOwnPath(path: string): boolean {
  return path.startsWith(OWN);
}

/** Never back to our own paths: an endless round otherwise. */
export function isReturnPath(path: string): boolean {
  return path.length <= 2000 && LOCAL_PATH.test(path) && !isOwnPath(path);
}

/** Exchanges a ticket of the console or the secret of a share link for a cookie of the app's host. */
export async function serveOwnPath(
  gateway: AppGateway,
  consoleUrl: string,
  label: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(`http://app${request.url}`);
  if (request.method !== 'GET') throw new Problem('method_not_allowed', 'Only GET is served here.');
  if (pathname === '/.gpuaas/leave')
    return redirect(response, new URL('/', consoleUrl).href, [clearCookie()]);
  if (pathname !== '/.gpuaas/enter') throw new Problem('not_found', 'This path does not exist.');
  const share = searchParams.get('share');
  const cookie =
    share === null
      ? await enterByTicket(gateway, label, request, searchParams.get('ticket') ?? '')
      : await enterByLink(gateway, label, request, share);
  const to = searchParams.get('to') ?? '/';
  redirect(response, isReturnPath(to) ? to : '/', [cookie]);
}

async function enterByTicket(
  { parts: { services } }: AppGateway,
  label: string,
  request: IncomingMessage,
  ticket: string,
): Promise<string> {
  const nonce = attemptNonce(request.headers);
  const signIn = await consumeAppTicket(services.db, services.clock, ticket, { label, nonce });
  if (!signIn)
    throw new Problem('forbidden', 'The ticket is used up or not for this browser. Open the app again.');
  return sealCookie(services, label, signIn, COOKIE_SECONDS);
}

async function enterByLink(
  gateway: AppGateway,
  label: string,
  request: IncomingMessage,
  secret: string,
): Promise<string> {
  const { services, apps } = gateway.parts;
  const link = await apps.findShareLink(services.db, await gateway.find(label), secret);
  if (!link) {
    gateway.limitFailures(request);
    throw new Problem('forbidden', 'The link has expired, was revoked, or is for another app.');
  }
  const left = Math.floor((link.expiresAt.getTime() - services.clock.now().getTime()) / 1000);
  return sealCookie(services, label, { linkId: link.id }, Math.max(1, Math.min(COOKIE_SECONDS, left)));
}
