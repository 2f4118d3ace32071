import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../../backoff.ts';
import { ensureFolder, isErrno, writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { mustRun, type RunCommand } from '../commands.ts';
import { STANDARD_MTU } from './profiles.ts';
import type { SlicePort } from './slice-ports.ts';

/** Leases by reservation only: dnsmasq serves the addresses that approval gave to slots, and no others. */
export interface Dhcp {
  /** Refuses when nobody serves. */
  check(): Promise<void>;
  /** Serves exactly these. */
  reserve(ports: readonly SlicePort[]): Promise<void>;
  /** The address a MAC has now. */
  leaseOf(mac: string): Promise<string | null>;
  /** Leases of who is none of these. */
  strangers(ports: readonly SlicePort[]): Promise<{ mac: string; ip: string }[]>;
  forget(mac: string): Promise<void>;
}

const GONE_MS = 5_000;

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

/** What dnsmasq is started with, by bootstrap on a host and by the lab. `gateway` is the host's own address. */
export function dnsmasqConfig(
  dir: string,
  bridge: string,
  gateway: string,
  mtu: number = STANDARD_MTU,
): string {
  const paths = dhcpPaths(dir);
  const network = gateway.replace(/\.\d+$/, '.0');
  return [
    'user=root',
    `interface=${bridge}`,
    'except-interface=lo',
    'bind-dynamic',
    'no-hosts',
    'no-ping',
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

  /** `1731754800 52:54:00:aa:00:01 10.1.2.10 name client-id`; the first field is when it ends. */
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
      process.kill(await serverPid(), 'SIGHUP');
    },
    async strangers(ports) {
      const known = new Set(ports.map(({ mac }) => mac));
      const all = [...(await leases())];
      return all.filter(([mac]) => !known.has(mac)).map(([mac, ip]) => ({ mac, ip }));
    },
    leaseOf: async (mac) => (await leases()).get(mac) ?? null,
    async forget(mac) {
      const ip = (await leases()).get(mac);
      if (!ip) return;
      await mustRun(run, 'network_not_clean', 'dhcp_release', [bridge, ip, mac]);
      const end = Date.now() + GONE_MS;
      while ((await leases()).has(mac) && Date.now() < end) await pause(50);
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
