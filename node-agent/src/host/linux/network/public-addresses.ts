import { runOrThrow, type RunCommand } from '../commands.ts';

/** The label marks the loopback addresses that we may remove. */
const LABEL = 'lo:gpuaas';

/**
 * Public addresses that this host answers for. They are on the loopback, so that Linux answers ARP on any
 * link, and a route to this host ends here.
 */
export interface PublicAddresses {
  /** Answers for exactly these. */
  apply(addresses: readonly string[]): Promise<void>;
  list(): Promise<string[]>;
}

export function openPublicAddresses(run: RunCommand): PublicAddresses {
  async function list(): Promise<string[]> {
    const words = ['-json', '-4', 'address', 'show', 'dev', 'lo'];
    const links: {
      addr_info?: { local: string; label?: string }[];
    }[] = JSON.parse(await runOrThrow(run, 'network_not_ready', 'ip', words));
    return links
      .flatMap(({ addr_info = [] }) => addr_info)
      .filter(({ label }) => label === LABEL)
      .map(({ local }) => local);
  }
  const change = (verb: 'replace' | 'delete', address: string, ...rest: string[]): Promise<unknown> =>
    runOrThrow(run, 'network_not_ready', 'ip', ['address', verb, `${address}/32`, 'dev', 'lo', ...rest]);

  return {
    list,
    async apply(addresses) {
      const present = await list();
      for (const address of addresses)
        if (!present.includes(address)) await change('replace', address, 'label', LABEL);
      for (const address of present) if (!addresses.includes(address)) await change('delete', address);
    },
  };
}
