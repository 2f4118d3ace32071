import type { IncomingMessage } from 'node:http';

/**
 * Removes the mount path from a request's URL, or returns false if the URL is outside it.
 * The provider builds its own URLs from `originalUrl`, `baseUrl` and the Host header. The header is set to
 * the issuer's host, so that no request can make it hand out links to another host.
 */
export function stripMountPath(req: IncomingMessage, issuer: URL, mountPath: string): boolean {
  const original = req.url ?? '/';
  const rest = original.slice(mountPath.length);
  if (!original.startsWith(mountPath) || !/^([/?]|$)/.test(rest)) return false;
  Object.assign(req, { originalUrl: original, baseUrl: mountPath });
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = issuer.host;
  req.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
  delete req.headers['x-forwarded-host'];
  delete req.headers['x-forwarded-for'];
  return true;
}
