import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Names of this machine for itself; a browser that uses one of them is redirected to the public URL. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

export type TargetVerdict =
  | { kind: 'serve' }
  /** A caller with a credential that no browser adds automatically: served, without cookies. */
  | { kind: 'serve_without_cookies' }
  | { kind: 'redirect'; location: string }
  | { kind: 'malformed'; detail: string }
  | { kind: 'misdirected' };

export interface TargetRules {
  publicUrl: string;
  /** Addresses or networks whose `X-Forwarded-Host` is trusted. */
  trustedProxies?: readonly string[];
}

/**
 * Decides whether a request is for this site. The console and its cookies belong to the host name of the
 * public URL only: another name would be another site, and a name that somebody points here must show
 * nothing.
 */
export function createTargetCheck({
  publicUrl,
  trustedProxies = [],
}: TargetRules): (request: IncomingMessage) => TargetVerdict {
  const { hostname: own, origin } = new URL(publicUrl);
  const proxies = blockListOf(trustedProxies);
  return (request) => {
    if (hostsIn(request.rawHeaders) > 1) return { kind: 'malformed', detail: 'Send one Host header.' };
    const absolute = takePathOfTarget(request);
    if (absolute !== null && absolute !== own) return { kind: 'misdirected' };
    const path = request.url?.split('?', 1)[0] ?? '';
    if (PROBES.has(path)) return { kind: 'serve' };
    // The registry takes no cookies, and clients ask without a credential first.
    if (isRegistryPath(path)) return { kind: 'serve_without_cookies' };
    const host = hostnameOf(claimedHost(request, proxies));
    if (host === own) return { kind: 'serve' };
    const { authorization } = request.headers;
    if (path.startsWith('/api/') && authorization !== undefined) return { kind: 'serve_without_cookies' };
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (host !== null && LOOPBACK.has(host) && reads)
      return { kind: 'redirect', location: `${origin}${request.url ?? '/'}` };
    return { kind: 'misdirected' };
  };
}

export function isRegistryPath(path: string): boolean {
  return path === '/v2' || path.startsWith('/v2/');
}

function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Strips the host from a target that names one, and returns that host; null for a path. */
function takePathOfTarget(request: IncomingMessage): string | null {
  const target = request.url ?? '';
  if (target.startsWith('/') || target === '*') return null;
  const url = URL.parse(target);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return '';
  request.url = `${url.pathname.replace(/^\/{2,}/, '/')}${url.search}`;
  return url.hostname;
}

function claimedHost(request: IncomingMessage, proxies: BlockList | null): string | undefined {
  const forwarded = request.headers['x-forwarded-host'];
  const peer = request.socket.remoteAddress ?? '';
  if (forwarded === undefined || !proxies || !isIP(peer)) return request.headers.host;
  if (!proxies.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4')) return request.headers.host;
  return String(forwarded).split(',').at(-1)?.trim();
}

function hostnameOf(host: string | undefined): string | null {
  return /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase() ?? null;
}

function blockListOf(networks: readonly string[]): BlockList | null {
  if (networks.length === 0) return null;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
