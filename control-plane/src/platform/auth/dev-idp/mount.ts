import type { IncomingMessage } from 'node:http';

/**
 * Takes the mount path off a request's URL, or answers false when it is not below it.
 *
 * The provider builds its own URLs from `originalUrl`, `baseUrl` and the Host header. The latter is
 * pinned to the issuer's, so that no request can make it hand out links to another host.
 */
export function enterMount(req: IncomingMessage, issuer: URL, mountPath: string): boolean {
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
