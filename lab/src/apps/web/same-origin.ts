import type { IncomingMessage } from 'node:http';

/** False for a request that a page of another origin sent. Programs send no `Origin`. */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (headers.origin === undefined) return true;
  return URL.parse(headers.origin)?.host === headers.host;
}
