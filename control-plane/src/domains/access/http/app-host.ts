import type { IncomingMessage } from 'node:http';

/** One DNS label. A wildcard certificate covers exactly one. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Where apps are served. `domain` may carry a port: `localhost:8081`. */
export interface AppsSite {
  scheme: 'http' | 'https';
  domain: string;
}

export function appOrigin({ scheme, domain }: AppsSite, label: string): string {
  return `${scheme}://${label}.${domain}`;
}

/** The label of an app in a `Host`; null for a name that is not one label under the apps' domain. */
export function labelOfHost(host: string | undefined, { domain }: Pick<AppsSite, 'domain'>): string | null {
  const name = withoutPort(host ?? '');
  const suffix = `.${withoutPort(domain)}`;
  if (!name.endsWith(suffix)) return null;
  const label = name.slice(0, -suffix.length);
  return LABEL.test(label) ? label : null;
}

export function isLabel(text: string): boolean {
  return LABEL.test(text);
}

/** Node accepts a second `Host` and a target that names another host. Both could hide a request from our checks. */
export function isWellFormed({ rawHeaders, url, httpVersion }: IncomingMessage): boolean {
  if (!url?.startsWith('/') || httpVersion !== '1.1') return false;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1;
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}
