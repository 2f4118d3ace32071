import { mustRun, type RunCommand } from '../commands.ts';

/** By the label it is seen which addresses of the loopback are ours to take away. */
const LABEL = 'lo:gpuaas';

/**
 * Public addresses that this host answers for. They stand on the loopback, so that Linux answers for them on whatever link
 * they are looked for, and that a route which leads here ends here.
 */
export interface PublicAddresses {
  /** Answers for exactly these. */
  apply(addresses: readonly string[]): Promise<void>;
  list(): Promise<string[]>;
}

export function openPublicAddresses(run: RunCommand): PublicAddresses {
  async function list(): Promise<string[]> {
    const words = ['-json', '-4', 'address', 'show', 'dev', 'lo'];
    const links = JSON.parse(await mustRun(run, 'network_not_ready', 'ip', words)) as {
      addr_info?: { local: string; label?: string }[];
    }[];
    return links
      .flatMap(({ addr_info = [] }) => addr_info)
      .filter(({ label }) => label === LABEL)
      .map(({ local }) => local);
  }
  const change = (verb: 'replace' | 'delete', address: string, ...rest: string[]): Promise<unknown> =>
    mustRun(run, 'network_not_ready', 'ip', ['address', verb, `${address}/32`, 'dev', 'lo', ...rest]);

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
