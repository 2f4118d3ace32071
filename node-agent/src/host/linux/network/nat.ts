import type { IngressRule } from '@gpuaas/contracts/tasks';
import { TaskError } from '../../../tasks/task-error.ts';
import { commandError, runOrThrow, type RunCommand } from '../commands.ts';
import type { SlicePort } from './slice-ports.ts';

/**
 * Private NAT: machines reach out through the host, only forwarded ports of public addresses reach in, and
 * machines cannot reach each other.
 */
export interface Nat {
  /** Replaces the rules with those of exactly these machines, atomically. */
  apply(ports: readonly SlicePort[]): Promise<void>;
  /** Addresses that the rules contain. */
  addresses(): Promise<string[]>;
  /** Forwardings from outside by machine, as read from the kernel's rules. */
  ingress(): Promise<ForwardTarget[]>;
}

export interface ForwardTarget extends IngressRule {
  ip: string;
}

/** Where slices get to through the host. */
export interface Egress {
  /** The one interface they leave by; null for any. */
  uplink: string | null;
  /** Networks they do not reach. */
  closedNetworks: readonly string[];
}

const PROTOCOLS = ['tcp', 'udp'] as const;

export function openNat(bridge: string, out: Egress, run: RunCommand): Nat {
  return {
    async apply(ports) {
      const input = natRules(bridge, out, ports);
      await runOrThrow(run, 'network_not_ready', 'nft', ['--file', '-'], { input });
    },
    async addresses() {
      const listed = await listFrom<{ set?: { elem?: string[] } }>(run, 'set', 'slices');
      return listed.flatMap(({ set }) => set?.elem ?? []);
    },
    async ingress() {
      const all = await Promise.all(PROTOCOLS.map((protocol) => readIngress(run, protocol)));
      return all.flat();
    },
  };
}

type Concatenated = { concat: [string, number] };

async function readIngress(run: RunCommand, protocol: 'tcp' | 'udp'): Promise<ForwardTarget[]> {
  const listed = await listFrom<{ map?: { elem?: [Concatenated, Concatenated][] } }>(
    run,
    'map',
    `ingress_${protocol}`,
  );
  return listed
    .flatMap(({ map }) => map?.elem ?? [])
    .map(([{ concat: outside }, { concat: inside }]) => ({
      public_address: outside[0],
      protocol,
      public_port: outside[1],
      ip: inside[0],
      machine_port: inside[1],
    }));
}

/**
 * Elements of one of our sets or maps in the kernel; empty without it. An unreadable rule set is an error,
 * not an empty one.
 */
async function listFrom<T>(run: RunCommand, kind: 'set' | 'map', name: string): Promise<T[]> {
  const result = await run('nft', ['--json', 'list', kind, 'inet', 'gpuaas', name]);
  if (result?.code === 0) {
    const listed: { nftables: T[] } = JSON.parse(result.stdout);
    return listed.nftables;
  }
  if (result && /No such file or directory/.test(result.stderr)) return [];
  const reason = result ? commandError(result) : 'nft is not installed on this host';
  throw new TaskError('network_not_ready', `the rules of the slices cannot be read: ${reason}`);
}

/** The whole table, replaced in one kernel transaction. */
export function natRules(bridge: string, out: Egress, ports: readonly SlicePort[]): string {
  const addresses = ports.map(({ ip }) => ip).toSorted();
  const outside = publicAddresses(ports);
  return `table inet gpuaas
delete table inet gpuaas
table inet gpuaas {
  set slices { type ipv4_addr;${elements(addresses)} }
  set public { type ipv4_addr;${elements(outside)} }
  set closed { type ipv4_addr; flags interval; auto-merge;${elements(out.closedNetworks)} }
  map ingress_tcp { type ipv4_addr . inet_service : ipv4_addr . inet_service;${elements(leading(ports, 'tcp'))} }
  map ingress_udp { type ipv4_addr . inet_service : ipv4_addr . inet_service;${elements(leading(ports, 'udp'))} }
  chain prerouting {
    type nat hook prerouting priority dstnat;
    iifname != "${bridge}" dnat ip to ip daddr . tcp dport map @ingress_tcp
    iifname != "${bridge}" dnat ip to ip daddr . udp dport map @ingress_udp
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname "${bridge}" oifname "${bridge}" drop
    iifname "${bridge}" ip saddr != @slices drop
    iifname "${bridge}" ct direction reply accept
    iifname "${bridge}" ip daddr @closed drop${out.uplink === null ? '' : `\n    iifname "${bridge}" oifname != "${out.uplink}" drop`}
    oifname "${bridge}" ct state established,related accept
    oifname "${bridge}" ct status dnat ct original ip daddr @public accept
    oifname "${bridge}" drop
  }
  chain input {
    type filter hook input priority filter; policy accept;
    ip daddr @public drop
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

/** Addresses that the host answers for; traffic without a forwarding ends at the host, which drops it. */
export function publicAddresses(ports: readonly SlicePort[]): string[] {
  return [
    ...new Set(ports.flatMap(({ ingress = [] }) => ingress.map((rule) => rule.public_address))),
  ].toSorted();
}

function leading(ports: readonly SlicePort[], protocol: 'tcp' | 'udp'): string[] {
  return ports
    .flatMap(({ ip, ingress = [] }) =>
      ingress
        .filter((rule) => rule.protocol === protocol)
        .map((rule) => `${rule.public_address} . ${rule.public_port} : ${ip} . ${rule.machine_port}`),
    )
    .toSorted();
}

function elements(all: readonly string[]): string {
  return all.length > 0 ? ` elements = { ${all.join(', ')} };` : '';
}
