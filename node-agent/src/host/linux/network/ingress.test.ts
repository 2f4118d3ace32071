import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IngressRule } from '@gpuaas/contracts/tasks';
import { runCommand, type RunCommand } from '../commands.ts';
import { openNat, publicAddresses, type Egress } from './nat.ts';
import { openPublicAddresses } from './public-addresses.ts';
import type { SlicePort } from './slice-ports.ts';

const obstacle = whyNot();
const [OUTSIDE, MANAGEMENT, HOST, GUEST] = ['outside', 'management', 'host', 'guest'];
const BRIDGE = 'slices0';
const ADDRESS = '203.0.113.7';
const [GUEST_IP, HOST_IP] = ['10.77.0.10', '10.77.0.1'];
const PORT: SlicePort = {
  allocation_id: '019a8000-0000-7000-8000-000000000001',
  mac: '52:54:00:00:00:01',
  ip: GUEST_IP,
  ovs_port: 'p1',
};
const WEB: IngressRule = { public_address: ADDRESS, protocol: 'tcp', public_port: 443, machine_port: 8443 };

/** Owns the mount namespace with the network names; all networks go with it, even if the test is killed. */
let keeper: ChildProcess;
const enter = (): string[] => [
  '--target',
  String(keeper.pid),
  '--mount',
  '--',
  'setpriv',
  '--pdeathsig',
  'KILL',
  '--',
];
const inNetwork = (name: string): string[] => [...enter(), 'ip', 'netns', 'exec', name];
const inHost: RunCommand = (tool, args, options) =>
  runCommand('nsenter', [...inNetwork(HOST), tool, ...args], options);
const ANYWHERE: Egress = { uplink: null, closedNetworks: [] };
const nat = openNat(BRIDGE, ANYWHERE, inHost);
const addresses = openPublicAddresses(inHost);
const servers: ChildProcess[] = [];

/** In the order of the host's network: rules first, then their addresses. */
async function lead(...ingress: IngressRule[]): Promise<void> {
  const ports = [{ ...PORT, ingress }];
  await nat.apply(ports);
  await addresses.apply(publicAddresses(ports));
}

describe.skipIf(obstacle !== null)(
  `the ways in and out with real packets (${obstacle ?? 'needs nothing more'})`,
  () => {
    beforeAll(async () => {
      const place = 'mount -t tmpfs tmpfs /run && echo open && exec cat';
      keeper = spawn('unshare', ['--mount', 'sh', '-c', place], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(keeper.stdout!, 'data');
      for (const name of [OUTSIDE, MANAGEMENT, HOST, GUEST]) ip('netns', 'add', name);
      ip('link', 'add', 'uplink', 'netns', HOST, 'type', 'veth', 'peer', 'name', 'wan', 'netns', OUTSIDE);
      ip('link', 'add', 'admin', 'netns', HOST, 'type', 'veth', 'peer', 'name', 'lan', 'netns', MANAGEMENT);
      ip('link', 'add', BRIDGE, 'netns', HOST, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', GUEST);
      for (const [where, link, address] of [
        [OUTSIDE, 'wan', '198.51.100.2/24'],
        [MANAGEMENT, 'lan', '192.0.2.2/24'],
        [HOST, 'uplink', '198.51.100.1/24'],
        [HOST, 'admin', '192.0.2.1/24'],
        [HOST, BRIDGE, `${HOST_IP}/24`],
        [GUEST, 'eth0', `${GUEST_IP}/24`],
      ] as const) {
        ip('-n', where, 'address', 'add', address, 'dev', link);
        for (const up of [link, 'lo']) ip('-n', where, 'link', 'set', up, 'up');
      }
      ip('-n', GUEST, 'route', 'add', 'default', 'via', HOST_IP);
      // On-link, so that the host must answer ARP for the address.
      ip('-n', OUTSIDE, 'route', 'add', '203.0.113.0/24', 'dev', 'wan');
      execFileSync('nsenter', [...inNetwork(HOST), 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
      await serve(GUEST, 8443, 'the machine');
      await serve(GUEST, 9000, 'another port of the machine');
      await serve(HOST, 443, 'the host');
      await serve(OUTSIDE, 80, 'the world');
      await serve(MANAGEMENT, 80, 'the operators');
    });
    afterAll(async () => {
      for (const server of servers) server.kill('SIGKILL');
      const gone = once(keeper, 'exit');
      keeper.stdin!.end();
      await gone;
    });

    it('forwards only the named port to the machine, and lists its forwardings', async () => {
      await lead(WEB);
      expect(await ask(443)).toBe('the machine');
      expect(await ask(8443)).toBeNull();
      expect(await ask(9000)).toBeNull();
      expect(await nat.ingress()).toEqual([{ ...WEB, ip: GUEST_IP }]);
      expect(await addresses.list()).toEqual([ADDRESS]);
    });

    it('exposes no service of the host on a public address', async () => {
      await lead({ ...WEB, public_port: 80 });
      expect(await ask(443)).toBeNull();
      expect(await ask(80)).toBe('the machine');
      expect(await ask(443, '198.51.100.1')).toBe('the host');
    });

    it('can be applied repeatedly, changes atomically, and leaves no trace when removed', async () => {
      await lead(WEB);
      await lead(WEB, { ...WEB, protocol: 'udp', public_port: 53, machine_port: 53 });
      await lead(WEB);
      expect(await ask(443)).toBe('the machine');
      await lead();
      expect(await ask(443)).toBeNull();
      expect(await nat.ingress()).toEqual([]);
      expect(await addresses.list()).toEqual([]);
    });

    it('lets no traffic in through the outbound rules: the guest is reached only by its forwarding', async () => {
      await lead(WEB);
      ip('-n', OUTSIDE, 'route', 'add', '10.77.0.0/24', 'via', '198.51.100.1');
      expect(await ask(8443, GUEST_IP)).toBeNull();
      expect(await ask(443)).toBe('the machine');
    });

    it('lets slices out only by the named interface, and never into a closed network', async () => {
      const replies = async (out: Partial<Egress>) => {
        await openNat(BRIDGE, { ...ANYWHERE, ...out }, inHost).apply([{ ...PORT, ingress: [WEB] }]);
        return [await ask(80, '198.51.100.2', GUEST), await ask(80, '192.0.2.2', GUEST), await ask(443)];
      };
      await lead(WEB);
      expect(await replies({})).toEqual(['the world', 'the operators', 'the machine']);
      expect(await replies({ uplink: 'uplink' })).toEqual(['the world', null, 'the machine']);
      expect(await replies({ closedNetworks: ['192.0.2.0/24'] })).toEqual(['the world', null, 'the machine']);
      // Replies to admitted clients pass, from any source network.
      expect(await replies({ closedNetworks: ['198.51.0.0/16', '198.51.100.0/24'] })).toEqual([
        null,
        'the operators',
        'the machine',
      ]);
    });
  },
);

/** Sends the text to every client that connects. */
async function serve(where: string, port: number, words: string): Promise<void> {
  const program = `require('net').createServer((s) => s.end(${JSON.stringify(words)}))
    .listen(${port}, '0.0.0.0', () => console.log('ready'))`;
  const server = spawn('nsenter', [...inNetwork(where), process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(server);
  await once(server.stdout, 'data');
}

/** The text received; null when no server answers within a second. */
async function ask(port: number, address = ADDRESS, from = OUTSIDE): Promise<string | null> {
  const program = `const s = require('net').connect(${port}, '${address}');
    s.setTimeout(1000, () => process.exit(1)); s.on('error', () => process.exit(1)); s.pipe(process.stdout)`;
  const result = await runCommand('nsenter', [...inNetwork(from), process.execPath, '-e', program]);
  return result?.code === 0 ? result.stdout : null;
}

function ip(...args: string[]): void {
  execFileSync('nsenter', [...enter(), 'ip', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function whyNot(): string | null {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = ['nft', 'ip', 'sysctl', 'unshare', 'nsenter', 'setpriv'].filter((tool) => {
    return !['/usr/sbin', '/usr/bin', '/sbin', '/bin'].some((folder) => isThere(`${folder}/${tool}`));
  });
  return missing.length > 0 ? `needs ${missing.join(', ')}` : null;
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
