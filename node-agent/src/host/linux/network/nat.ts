import { mustRun, type RunCommand } from '../commands.ts';
import type { SlicePort } from './slice-ports.ts';

/** Private NAT: machines reach out through the host, nothing reaches in, and no machine reaches another. */
export interface Nat {
  /** Puts the rules for exactly these machines in place, at once or not at all. */
  apply(ports: readonly SlicePort[]): Promise<void>;
  /** Addresses that the rules know. */
  addresses(): Promise<string[]>;
}

export function openNat(bridge: string, run: RunCommand): Nat {
  return {
    async apply(ports) {
      const input = natRules(bridge, ports);
      await mustRun(run, 'network_not_ready', 'nft', ['--file', '-'], { input });
    },
    async addresses() {
      const result = await run('nft', ['--json', 'list', 'set', 'inet', 'gpuaas', 'slices']);
      if (result?.code !== 0) return [];
      const { nftables } = JSON.parse(result.stdout) as { nftables: { set?: { elem?: string[] } }[] };
      return nftables.flatMap(({ set }) => set?.elem ?? []);
    },
  };
}

/** The whole table, made anew in one transaction of the kernel. */
export function natRules(bridge: string, ports: readonly SlicePort[]): string {
  const addresses = ports.map(({ ip }) => ip).toSorted();
  const elements = addresses.length > 0 ? ` elements = { ${addresses.join(', ')} };` : '';
  return `table inet gpuaas
delete table inet gpuaas
table inet gpuaas {
  set slices { type ipv4_addr;${elements} }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname "${bridge}" oifname "${bridge}" drop
    iifname "${bridge}" ip saddr != @slices drop
    oifname "${bridge}" ct state established,related accept
    oifname "${bridge}" drop
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname "${bridge}" ct state established,related accept
    iifname "${bridge}" udp dport { 53, 67 } accept
    iifname "${bridge}" tcp dport 53 accept
    iifname "${bridge}" icmp type echo-request accept
    iifname "${bridge}" drop
  }
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr @slices oifname != "${bridge}" masquerade
  }
}
`;
}
