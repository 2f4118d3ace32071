import { Resolver } from 'node:dns/promises';

const TIMEOUT_MS = 2000;
const TRIES = 2;

/** The TXT record that only the owner of a domain can publish. */
export function verificationRecord({ domain, token }: { domain: string; token: string }): {
  name: string;
  value: string;
} {
  return { name: `_gpuaas-challenge.${domain}`, value: `gpuaas-domain-verification=${token}` };
}

export type VerifyDomainRecord = (claim: { domain: string; token: string }) => Promise<boolean>;

/** Resolves the record; any failure counts as not verified. `servers` as `address` or `address:port`. */
export function createDomainVerifier(servers: readonly string[]): VerifyDomainRecord {
  return async (claim) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    const { name, value } = verificationRecord(claim);
    const records = await resolver.resolveTxt(name).catch(() => []);
    return records.some((parts) => parts.join('') === value);
  };
}
