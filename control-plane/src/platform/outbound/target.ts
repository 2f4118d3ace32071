import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface Address {
  address: string;
  family: number;
}

export interface TargetRules {
  /** For installations whose tenants' endpoints live inside: plain http and addresses that are not public. */
  allowPrivateTargets: boolean;
  /** How names become addresses; tests bring their own. */
  lookup?: (hostname: string) => Promise<Address[]>;
}

/** The reason why nothing is sent to a URL. */
export class TargetRefusedError extends Error {}

/** Checks of a URL that need no DNS. */
export function checkUrl(text: string, rules: TargetRules): URL {
  const url = URL.parse(text);
  if (!url) throw new TargetRefusedError('it is not a URL');
  if (url.protocol !== 'https:' && !(rules.allowPrivateTargets && url.protocol === 'http:')) {
    throw new TargetRefusedError('it must begin with https://');
  }
  if (url.username || url.password) throw new TargetRefusedError('it must not carry credentials');
  if (url.hash) throw new TargetRefusedError('it must not carry a fragment');
  if (rules.allowPrivateTargets) return url;
  const host = hostOf(url);
  if (isIP(host) ? !isPublicAddress(host) : /(^|\.)(localhost|local|internal)\.?$/.test(host)) {
    throw new TargetRefusedError('its address is not public');
  }
  return url;
}

/**
 * Resolves once and checks every address. The connection goes to these addresses and not to the name, so a
 * name that resolves differently a moment later (DNS rebinding) changes nothing.
 */
export async function resolveTarget(
  text: string,
  rules: TargetRules,
): Promise<{ url: URL; addresses: Address[] }> {
  const url = checkUrl(text, rules);
  const host = hostOf(url);
  const family = isIP(host);
  if (family) return { url, addresses: [{ address: host, family }] };
  const resolve = rules.lookup ?? ((name: string) => systemLookup(name, { all: true }));
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new TargetRefusedError('its name has no address');
  if (!rules.allowPrivateTargets && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new TargetRefusedError('its name resolves to an address that is not public');
  }
  return { url, addresses };
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
