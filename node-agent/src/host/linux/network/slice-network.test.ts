import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHostFiles } from '../host-files.ts';
import { openSliceNetwork } from './slice-network.ts';
import { openSlicePorts } from './slice-ports.ts';

const PORT = {
  allocation_id: '019a8000-0000-7000-8000-000000000001',
  mac: '52:54:00:00:00:01',
  ip: '10.77.0.10',
  ovs_port: 'gs000001p0',
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-network-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** A process named dnsmasq that reads nothing and ignores the reload signal. */
async function pretendDhcp(): Promise<ChildProcess> {
  const [folder, program] = [join(dir, 'dhcp'), join(dir, 'dnsmasq')];
  await mkdir(folder);
  await writeFile(program, '#!/bin/sh\ntrap "" HUP\necho ready\nwhile :; do sleep 1; done\n', {
    mode: 0o755,
  });
  const server = spawn(program, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  await writeFile(join(folder, 'dnsmasq.pid'), `${server.pid}\n`);
  return server;
}

it('two machines created concurrently both keep their addresses', async () => {
  const other = { ...PORT, allocation_id: `${PORT.allocation_id.slice(0, -1)}2`, mac: '52:54:00:00:00:02' };
  const ports = [PORT, { ...other, ip: '10.77.0.11', ovs_port: 'gs000001p1' }] as const;
  const server = await pretendDhcp();
  const { promise: firstAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: secondIsThere, resolve: there } = Promise.withResolvers<void>();
  let rules = '';
  let times = 0;
  const network = openSliceNetwork({
    out: { uplink: null, closedNetworks: [] },
    dir,
    bridge: 'ovsbr0',
    files: openHostFiles(dir),
    async run(tool, _args, options) {
      if (tool === 'nft' && options?.input) {
        asked();
        // The first call is slow: the second machine is recorded in the meantime.
        if ((times += 1) === 1) await Promise.race([secondIsThere, pause(2_000)]);
        rules = options.input;
      }
      return { code: 0, stdout: '[]', stderr: '' };
    },
  });
  try {
    const first = network.reserve(ports[0]);
    await firstAsked;
    const second = network.reserve(ports[1]);
    await Promise.race([second, pause(500)]);
    there();
    await Promise.all([first, second]);
  } finally {
    server.kill('SIGKILL');
  }
  const reserved = await readFile(join(dir, 'dhcp/hosts'), 'utf8');
  for (const { mac, ip } of ports) {
    expect(rules).toContain(ip);
    expect(reserved).toContain(mac);
  }
});

it('an address that another machine is losing is no residue of this one', async () => {
  const rule = {
    public_address: '203.0.113.7',
    protocol: 'tcp',
    public_port: 443,
    machine_port: 8443,
  } as const;
  const ending = { ...PORT, ingress: [rule] };
  await openSlicePorts(dir).add(ending);
  const server = await pretendDhcp();
  const { promise: taking, resolve: begun } = Promise.withResolvers<void>();
  let held = true;
  const network = openSliceNetwork({
    out: { uplink: null, closedNetworks: [] },
    dir,
    bridge: 'ovsbr0',
    files: openHostFiles(dir),
    async run(tool, args) {
      if (tool === 'ip' && args.includes('delete')) {
        begun();
        await pause(300);
        held = false;
      }
      const shown = held ? [{ local: rule.public_address, label: 'lo:gpuaas' }] : [];
      const stdout = tool === 'nft' ? '{ "nftables": [] }' : JSON.stringify([{ addr_info: shown }]);
      return { code: 0, stdout, stderr: '' };
    },
  });
  try {
    const detached = network.setIngress(ending, []);
    await taking;
    const released = {
      management_mac: '52:54:00:00:00:02',
      private_ip: '10.77.0.11',
      ovs_port: 'gs000001p1',
    };
    expect(await network.residue([released as SlotBundle])).toEqual([]);
    await detached;
  } finally {
    server.kill('SIGKILL');
  }
});

it('rules that come after the release of their machine are refused and bring nothing back', async () => {
  const ports = openSlicePorts(dir);
  const network = openSliceNetwork({
    out: { uplink: null, closedNetworks: [] },
    dir,
    bridge: 'ovsbr0',
    files: openHostFiles(dir),
    run: () => Promise.resolve({ code: 0, stdout: '{ "nftables": [] }', stderr: '' }),
  });
  await expect(network.setIngress(PORT, [])).rejects.toMatchObject({ code: 'vm_missing' });
  expect(await ports.list()).toEqual([]);
});

it.each(['ovs-vsctl', 'ovs-ofctl', 'nft'])(
  'an address that no lease backs is remembered until all of it is gone, also when %s fails',
  async (broken) => {
    await openSlicePorts(dir).add(PORT);
    const network = openSliceNetwork({
      out: { uplink: null, closedNetworks: [] },
      dir,
      bridge: 'ovsbr0',
      files: openHostFiles(dir),
      run: async (tool) => ({ code: tool === broken ? 1 : 0, stdout: '', stderr: 'out of order' }),
    });
    await expect(network.dropStale(new Set())).rejects.toThrow();
    expect(await network.ports()).toEqual([PORT]);
  },
);

it('a host without its uplink interface serves no machine', async () => {
  const server = await pretendDhcp();
  const network = openSliceNetwork({
    out: { uplink: 'enp3s0f0v1', closedNetworks: [] },
    dir,
    bridge: 'ovsbr0',
    files: openHostFiles(dir),
    run: async (_tool, args) => ({
      code: 0,
      stdout: args.includes('list-br') ? 'ovsbr0\n' : '1\n',
      stderr: '',
    }),
  });
  try {
    await mkdir(join(dir, 'proc/sys/net/ipv4'), { recursive: true });
    await writeFile(join(dir, 'proc/sys/net/ipv4/ip_forward'), '1\n');
    await expect(network.check()).rejects.toMatchObject({
      code: 'network_not_ready',
      message: 'the interface enp3s0f0v1, by which slices leave, is not there',
    });
    await mkdir(join(dir, 'sys/class/net/enp3s0f0v1'), { recursive: true });
    await writeFile(join(dir, 'sys/class/net/enp3s0f0v1/operstate'), 'up\n');
    await network.check();
  } finally {
    server.kill('SIGKILL');
  }
});
