import { createHash } from 'node:crypto';
import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { SlicePort } from './slice-ports.ts';

/**
 * The management switch of the host. libvirt plugs machines in; this module decides which packets they may
 * send.
 */
export interface Ovs {
  /** Throws if the bridge is missing or not set up. */
  check(): Promise<void>;
  /** Whether packets are switched in userspace, which has no offloads. */
  isUserspace(): Promise<boolean>;
  /** Restricts the machine to its own addresses, and to traffic with the host. */
  guard(port: SlicePort): Promise<void>;
  /** Leftovers of these ports. */
  residue(ports: readonly Pick<SlicePort, 'mac' | 'ovs_port'>[]): Promise<string[]>;
  remove(port: Pick<SlicePort, 'mac' | 'ovs_port'>): Promise<void>;
  /** Ports and flows of machines outside this list. */
  findUnknown(ports: readonly SlicePort[]): Promise<UnknownSwitchPort[]>;
}

export interface UnknownSwitchPort {
  subject: 'port';
  /** Of the port, or the mark of the guard. */
  name: string;
  evidence: string;
}

/** Names of machine ports as slots and libvirt assign them; uplinks have other names. */
const MACHINE_PORT = /^(gs[0-9a-f]{6}p\d+|vnet\d+)$/;
/** The last of the flows that guard a port. */
const GUARD = /cookie=(0x[1-9a-f][0-9a-f]*),.*priority=100,in_port=\S+ actions=drop/g;

export function openOvs(bridge: string, run: RunCommand): Ovs {
  const vsctl = (...args: string[]): Promise<string> =>
    runOrThrow(run, 'network_not_ready', 'ovs-vsctl', ['--timeout=10', ...args]);
  const ofctl = (...args: string[]): Promise<string> =>
    runOrThrow(run, 'network_not_ready', 'ovs-ofctl', ['--timeout=10', ...args]);

  return {
    async check() {
      const bridges = (await vsctl('list-br')).split('\n').filter((name) => name !== '');
      if (!bridges.includes(bridge)) {
        const found = bridges.join(', ') || 'none';
        throw new TaskError('bridge_missing', `there is no bridge ${bridge} (found: ${found})`);
      }
      // ovs-vsctl answers 0 also for a bridge that the datapath could not make.
      const port = Number((await vsctl('get', 'interface', bridge, 'ofport')).trim());
      if (!(port > 0)) throw new TaskError('bridge_missing', `bridge ${bridge} has no datapath`);
    },
    async isUserspace() {
      return (await vsctl('get', 'bridge', bridge, 'datapath_type')).trim() === 'netdev';
    },
    async guard(port) {
      await vsctl('set', 'port', port.ovs_port, 'protected=true');
      const number = Number((await vsctl('get', 'interface', port.ovs_port, 'ofport')).trim());
      if (!(number > 0)) throw new TaskError('network_not_ready', `port ${port.ovs_port} is not switched`);
      await ofctl('del-flows', bridge, `cookie=${cookieOf(port.mac)}/-1`);
      for (const flow of antiSpoofFlows(port, number)) await ofctl('add-flow', bridge, flow);
    },
    async residue(ports) {
      const present = (await vsctl('list-ports', bridge)).split('\n');
      const flows = await ofctl('dump-flows', bridge);
      return ports.flatMap(({ mac, ovs_port }) => [
        ...(present.includes(ovs_port) ? [`port ${ovs_port}`] : []),
        ...(flows.includes(`cookie=${cookieOf(mac)},`) ? [`flows of ${mac}`] : []),
      ]);
    },
    async findUnknown(ports) {
      const present = (await vsctl('list-ports', bridge)).split('\n');
      const known = new Set(ports.flatMap(({ mac, ovs_port }) => [ovs_port, cookieOf(mac)]));
      const guards = [...(await ofctl('dump-flows', bridge)).matchAll(GUARD)].map(
        ([, cookie = '']) => cookie,
      );
      const stranger = (name: string, evidence: string): UnknownSwitchPort[] =>
        known.has(name) ? [] : [{ subject: 'port', name, evidence }];
      return [
        ...present
          .filter((name) => MACHINE_PORT.test(name))
          .flatMap((name) => stranger(name, `port ${name}`)),
        ...guards.flatMap((cookie) => stranger(cookie, `flows with cookie ${cookie}`)),
      ];
    },
    async remove({ mac, ovs_port }) {
      await vsctl('--if-exists', 'del-port', bridge, ovs_port);
      await ofctl('del-flows', bridge, `cookie=${cookieOf(mac)}/-1`);
    },
  };
}

/**
 * Protected ports do not reach each other; these flows keep a machine from using another machine's address.
 */
export function antiSpoofFlows({ mac, ip }: SlicePort, ofport: number): string[] {
  const mark = `cookie=${cookieOf(mac)}`;
  const from = `in_port=${ofport},dl_src=${mac}`;
  return [
    `${mark},priority=210,${from},udp,nw_src=0.0.0.0,tp_src=68,tp_dst=67,actions=NORMAL`,
    `${mark},priority=200,${from},arp,arp_spa=${ip},arp_sha=${mac},actions=NORMAL`,
    `${mark},priority=200,${from},arp,arp_spa=0.0.0.0,arp_sha=${mac},actions=NORMAL`,
    `${mark},priority=200,${from},ip,nw_src=${ip},actions=NORMAL`,
    `${mark},priority=100,in_port=${ofport},actions=drop`,
  ];
}

/** Marks the flows of a port, so that exactly these can be found again. */
export function cookieOf(mac: string): string {
  const hex = createHash('sha256').update(mac).digest('hex').slice(0, 16);
  // ovs-ofctl prints without leading zeroes.
  return `0x${hex.replace(/^0+/, '')}`;
}
