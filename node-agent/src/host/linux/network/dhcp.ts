import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../../../backoff.ts';
import { ensureFolder, isErrno, writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import { STANDARD_MTU } from './profiles.ts';
import type { SlicePort } from './slice-ports.ts';

/** Leases by reservation only: dnsmasq serves the addresses that approval gave to slots, and no others. */
export interface Dhcp {
  /** Throws if no DHCP server runs. */
  check(): Promise<void>;
  /** Serves exactly these. */
  reserve(ports: readonly SlicePort[]): Promise<void>;
  /** The address a MAC has now. */
  leaseOf(mac: string): Promise<string | null>;
  /** Leases of machines outside this list. */
  findUnknown(ports: readonly SlicePort[]): Promise<{ mac: string; ip: string }[]>;
  forget(mac: string): Promise<void>;
}

const GONE_MS = 5_000;
/** Comes with the package `dnsmasq-base`. */
const DHCP_USER = 'dnsmasq';

export function dhcpPaths(dir: string) {
  const folder = join(dir, 'dhcp');
  return {
    folder,
    config: join(folder, 'dnsmasq.conf'),
    hosts: join(folder, 'hosts'),
    leases: join(folder, 'leases'),
    pid: join(folder, 'dnsmasq.pid'),
  };
}

/**
 * Configuration of dnsmasq, used by bootstrap on a host and by the lab. `gateway` is the host's own address.
 */
export function dnsmasqConfig(
  dir: string,
  bridge: string,
  gateway: string,
  mtu: number = STANDARD_MTU,
): string {
  const paths = dhcpPaths(dir);
  const network = gateway.replace(/\.\d+$/, '.0');
  return [
    // What guests send is parsed without any power over the host, and no guest puts a name into the DNS of others.
    `user=${DHCP_USER}`,
    'dhcp-ignore-names',
    `interface=${bridge}`,
    'except-interface=lo',
    // Without `no-ping` dnsmasq keeps CAP_NET_RAW, which it needs to bind to a bridge that was removed and set up again.
    // Reserved addresses are never pinged.
    'bind-dynamic',
    'no-hosts',
    'dhcp-authoritative',
    `dhcp-range=${network},static,255.255.255.0,1h`,
    'dhcp-ignore=tag:!known',
    `dhcp-option=option:router,${gateway}`,
    ...(mtu === STANDARD_MTU ? [] : [`dhcp-option=option:mtu,${mtu}`]),
    `dhcp-hostsfile=${paths.hosts}`,
    `dhcp-leasefile=${paths.leases}`,
    `pid-file=${paths.pid}`,
    '',
  ].join('\n');
}

/** The server reads reservations again after it has given up root: it may pass through the folders to them, no more. */
export async function openToServer(dir: string): Promise<void> {
  const { folder, hosts } = dhcpPaths(dir);
  for (const path of [dir, folder]) await chmod(path, 0o711);
  await chmod(hosts, 0o644);
}

export function openDhcp(dir: string, bridge: string, run: RunCommand): Dhcp {
  const paths = dhcpPaths(dir);

  async function serverPid(): Promise<number> {
    const pid = Number((await readOrEmpty(paths.pid)).trim());
    const name = pid > 0 ? (await readOrEmpty(`/proc/${pid}/comm`)).trim() : '';
    if (name !== 'dnsmasq') {
      throw new TaskError(
        'network_not_ready',
        `no dnsmasq runs with ${paths.config}; run the host's bootstrap`,
      );
    }
    return pid;
  }

  /** `1731754800 52:54:00:aa:00:01 10.1.2.10 name client-id`; the first field is the expiry time. */
  async function leases(): Promise<Map<string, string>> {
    const lines = (await readOrEmpty(paths.leases)).split('\n').map((line) => line.split(' '));
    return new Map(lines.flatMap(([, mac, ip]) => (mac && ip ? [[mac, ip] as const] : [])));
  }

  return {
    async check() {
      await serverPid();
    },
    async reserve(ports) {
      await ensureFolder(paths.folder);
      await writeDurable(paths.hosts, ports.map(({ mac, ip }) => `${mac},${ip}\n`).join(''));
      await openToServer(dir);
      process.kill(await serverPid(), 'SIGHUP');
    },
    async findUnknown(ports) {
      const known = new Set(ports.map(({ mac }) => mac));
      const all = [...(await leases())];
      return all.filter(([mac]) => !known.has(mac)).map(([mac, ip]) => ({ mac, ip }));
    },
    leaseOf: async (mac) => (await leases()).get(mac) ?? null,
    async forget(mac) {
      const ip = (await leases()).get(mac);
      if (!ip) return;
      await runOrThrow(run, 'network_not_clean', 'dhcp_release', [bridge, ip, mac]);
      const end = Date.now() + GONE_MS;
      while ((await leases()).has(mac) && Date.now() < end) await sleep(50);
    },
  };
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
