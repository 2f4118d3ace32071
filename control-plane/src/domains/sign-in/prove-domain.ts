import { Resolver } from 'node:dns/promises';

const TIMEOUT_MS = 2000;
const TRIES = 2;

/** The TXT record that only the owner of a domain can publish. */
export function recordOf({ domain, token }: { domain: string; token: string }): {
  name: string;
  value: string;
} {
  return { name: `_gpuaas-challenge.${domain}`, value: `gpuaas-domain-verification=${token}` };
}

export type ProveDomain = (claim: { domain: string; token: string }) => Promise<boolean>;

/** Looks the record up; whatever goes wrong on the way proves nothing. `servers` as `address` or `address:port`. */
export function domainProver(servers: readonly string[]): ProveDomain {
  return async (claim) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    const { name, value } = recordOf(claim);
    const records = await resolver.resolveTxt(name).catch(() => []);
    return records.some((parts) => parts.join('') === value);
  };
}
