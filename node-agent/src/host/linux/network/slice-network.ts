import type { IngressRule, SlotBundle } from '@gpuaas/contracts/tasks';
import { SerialQueue } from '../../../tasks/serial-queue.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { openDhcp } from './dhcp.ts';
import { openNat, publicAddresses, type ForwardTarget, type Egress } from './nat.ts';
import { cookieOf, openOvs } from './ovs.ts';
import { openPublicAddresses } from './public-addresses.ts';
import { openSlicePorts, type SlicePort } from './slice-ports.ts';

/** The private network of the slices on this host. */
export interface SliceNetwork {
  /** Throws if the host's network cannot serve a machine. */
  check(): Promise<void>;
  hasOffloads(): Promise<boolean>;
  /** Address and rules, before the machine is there. */
  reserve(port: SlicePort): Promise<void>;
  /** Once the machine is plugged in, before it runs. */
  guard(port: SlicePort): Promise<void>;
  /** Puts addresses and rules of all machines in place again, and names the machines. */
  restore(): Promise<SlicePort[]>;
  /**
   * Removes ports of allocations that hold no slot here, and returns them. Slots are leased before a machine
   * gets an address and released after it loses it, so such an address has no owner.
   */
  dropStale(leased: ReadonlySet<string>): Promise<SlicePort[]>;
  leaseOf(mac: string): Promise<string | null>;
  /** Machines that have an address here. */
  ports(): Promise<SlicePort[]>;
  /** Forwards exactly these rules to the machine of the port. */
  setIngress(port: SlicePort, rules: readonly IngressRule[]): Promise<void>;
  ingress(): Promise<ForwardTarget[]>;
  /** Removes everything of these slots. */
  remove(slots: readonly SlotBundle[]): Promise<void>;
  /** Leftovers of the slots, as read from the switch, the lease file and the rules. */
  residue(slots: readonly SlotBundle[]): Promise<string[]>;
  /** Entries in switch, leases and rules that belong to no machine with an address here. */
  findUnknown(): Promise<UnknownNetworkPort[]>;
}

export interface UnknownNetworkPort {
  subject: 'port' | 'address' | 'ingress';
  /** By which it could be known: one of `networkNames`. */
  name: string;
  evidence: string;
}

/** Identifiers of a slot's machine in switch, leases and rules. */
export function networkNames({ management_mac, private_ip, ovs_port }: SlotBundle): string[] {
  return [ovs_port, cookieOf(management_mac), management_mac, private_ip];
}

export interface NetworkOptions {
  dir: string;
  bridge: string;
  out: Egress;
  files: HostFiles;
  run: RunCommand;
}

export function openSliceNetwork({ dir, bridge, out, files, run }: NetworkOptions): SliceNetwork {
  const ports = openSlicePorts(dir);
  const ovs = openOvs(bridge, run);
  const dhcp = openDhcp(dir, bridge, run);
  const nat = openNat(bridge, out, run);
  const addresses = openPublicAddresses(run);
  const inTurn = new SerialQueue();

  /**
   * Reservations and rules are written as a whole, so writes run one after the other: a slow one would undo a
   * later one.
   */
  async function apply(isServed: (port: SlicePort) => boolean = () => true): Promise<void> {
    await inTurn.run('apply', () => applyNow(isServed));
  }

  async function applyNow(isServed: (port: SlicePort) => boolean = () => true): Promise<void> {
    const all = (await ports.list()).filter(isServed);
    await dhcp.reserve(all);
    // The host stops or begins to answer for an address only while its rules already say what becomes of it.
    await nat.apply(all);
    await addresses.apply(publicAddresses(all));
  }

  return {
    async check() {
      await ovs.check();
      await dhcp.check();
      if (files.text('/proc/sys/net/ipv4/ip_forward') !== '1') {
        throw new TaskError('network_not_ready', 'the host does not forward: net.ipv4.ip_forward is off');
      }
      if (out.uplink !== null && files.text(`/sys/class/net/${out.uplink}/operstate`) === null) {
        throw new TaskError(
          'network_not_ready',
          `the interface ${out.uplink}, by which slices leave, is not there`,
        );
      }
    },
    hasOffloads: async () => !(await ovs.isUserspace()),
    async reserve(port) {
      // A lease left by an earlier guest of this address would look like one of the new guest.
      await dhcp.forget(port.mac);
      await ports.add(port);
      await apply();
    },
    guard: (port) => ovs.guard(port),
    async restore() {
      const all = await ports.list();
      if (all.length > 0) await apply();
      return all;
    },
    async dropStale(leased) {
      const stale = (await ports.list()).filter(({ allocation_id }) => !leased.has(allocation_id));
      if (stale.length === 0) return [];
      for (const port of stale) await ovs.remove(port);
      await apply(({ allocation_id }) => leased.has(allocation_id));
      for (const { mac } of stale) await dhcp.forget(mac);
      // Last, so that a successor after a crash still knows which ports to remove.
      await ports.remove(stale.map(({ mac }) => mac));
      return stale;
    },
    leaseOf: (mac) => dhcp.leaseOf(mac),
    ports: () => ports.list(),
    async setIngress(port, rules) {
      await inTurn.run('apply', async () => {
        // A release may have removed the port meanwhile; its rules must not come back.
        const isThere = (await ports.list()).some(
          ({ mac, allocation_id }) => mac === port.mac && allocation_id === port.allocation_id,
        );
        if (!isThere) throw new TaskError('vm_missing', 'there is no machine of this allocation');
        await ports.add({ ...port, ingress: [...rules] });
        await applyNow();
      });
    },
    ingress: () => nat.ingress(),
    async remove(slots) {
      await inTurn.run('apply', async () => {
        await ports.remove(slots.map(({ management_mac }) => management_mac));
        await applyNow();
      });
      for (const { management_mac: mac, ovs_port } of slots) {
        await ovs.remove({ mac, ovs_port });
        await dhcp.forget(mac);
      }
    },
    async findUnknown() {
      const all = await ports.list();
      const known = new Set(all.map(({ ip }) => ip));
      const leading = (await nat.ingress()).filter(({ ip }) => !known.has(ip));
      const translated = (await nat.addresses()).filter((ip) => !known.has(ip));
      return [
        ...(await ovs.findUnknown(all)),
        ...(await dhcp.findUnknown(all)).map(({ mac, ip }): UnknownNetworkPort => {
          return { subject: 'address', name: mac, evidence: `lease of ${mac} for ${ip}` };
        }),
        ...translated.map((ip): UnknownNetworkPort => {
          return { subject: 'address', name: ip, evidence: `NAT of ${ip}` };
        }),
        ...leading.map(({ public_address, protocol, public_port, ip }): UnknownNetworkPort => {
          const evidence = `${protocol} ${public_address}:${public_port} leads to ${ip}`;
          return { subject: 'ingress', name: ip, evidence };
        }),
      ];
    },
    // Not while another machine loses a public address: that address would look like a leftover.
    residue: (slots) => inTurn.run('apply', () => findResidue(slots)),
  };

  async function findResidue(slots: readonly SlotBundle[]): Promise<string[]> {
    const known = await nat.addresses();
    const leading = await nat.ingress();
    const unused = (await addresses.list()).filter(
      (address) => !leading.some((rule) => rule.public_address === address),
    );
    const switched = await ovs.residue(slots.map(({ management_mac: mac, ovs_port }) => ({ mac, ovs_port })));
    const rest = await Promise.all(
      slots.map(async ({ management_mac, private_ip }) => [
        ...((await dhcp.leaseOf(management_mac)) ? [`lease of ${management_mac}`] : []),
        ...(known.includes(private_ip) ? [`NAT of ${private_ip}`] : []),
        ...(leading.some(({ ip }) => ip === private_ip) ? [`ingress of ${private_ip}`] : []),
      ]),
    );
    return [...switched, ...rest.flat(), ...unused.map((address) => `address ${address}`)];
  }
}
