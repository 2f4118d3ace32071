import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimFolder, LAB_FOLDER } from '@gpuaas/lab/vm/loop-disks';
import { openLabNamespace, type LabNamespace } from '@gpuaas/lab/vm/lab-namespace';
import { dhcpPaths } from '@gpuaas/node-agent/host/linux/network/dhcp';
import type { SlicePort } from '@gpuaas/node-agent/host/linux/network/slice-ports';
import { suggestAddresses } from '@gpuaas/node-agent/host/suggest-addresses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BRIDGE,
  bringUpBridge,
  gateway,
  labCache,
  startDhcp,
  VM_HOSTNAME,
} from '../harness/fleet/vm-host.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';

const obstacle = whyNoVmLab();
const NETWORK = fileURLToPath(new URL('slice-network-main.ts', import.meta.url));

/** Two slices, each in a separate network on its port of the bridge. */
const slices: SlicePort[] = [0, 1].map((index) => {
  const { management_mac: mac, private_ip: ip, ovs_port } = suggestAddresses(VM_HOSTNAME)(index);
  return { allocation_id: `01890000-0000-7000-8000-00000000000${index}`, mac, ip, ovs_port };
});
const [one, two] = slices as [SlicePort, SlicePort];

describe.skipIf(obstacle !== null)(`the network between slices (${obstacle ?? 'needs nothing more'})`, () => {
  let folder: string;
  let room: LabNamespace;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), LAB_FOLDER));
    claimFolder(folder);
    room = await openLabNamespace({ folder, disks: 0, diskBytes: 0, cache: labCache() });
    await bringUpBridge(room);
    await startDhcp(room, join(folder, 'agent'));
    for (const slice of slices) await plugIn(slice);
  });
  afterAll(async () => {
    await room?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const within = (slice: SlicePort, ...words: string[]): Promise<string> =>
    room.run('ip', 'netns', 'exec', slice.ovs_port, ...words);

  /** A machine's cable, without the machine. */
  async function plugIn({ ovs_port, mac, ip }: SlicePort): Promise<void> {
    await room.run('ip', 'netns', 'add', ovs_port);
    await room.run('ip', 'link', 'add', ovs_port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', ovs_port);
    await room.run('ip', 'link', 'set', ovs_port, 'up');
    await room.run('ip', '-n', ovs_port, 'link', 'set', 'eth0', 'address', mac);
    await room.run('ip', '-n', ovs_port, 'link', 'set', 'eth0', 'up');
    await room.run('ip', '-n', ovs_port, 'address', 'add', `${ip}/24`, 'dev', 'eth0');
    await room.run('ip', '-n', ovs_port, 'route', 'add', 'default', 'via', gateway());
    await room.run('ovs-vsctl', 'add-port', BRIDGE, ovs_port);
  }

  const network = (command: 'serve' | 'drop-stale', list: unknown): Promise<string> =>
    room.run(process.execPath, NETWORK, join(folder, 'agent'), BRIDGE, command, JSON.stringify(list));

  /** Traces of a slice in host and switch: its lease, its reservation, its rules and its flows. */
  async function known({ mac, ip, ovs_port }: SlicePort): Promise<string[]> {
    const found = {
      lease: (await room.run('cat', join(folder, 'agent/dhcp/leases'))).includes(mac),
      reservation: (await room.run('cat', join(folder, 'agent/dhcp/hosts'))).includes(mac),
      NAT: (await room.run('nft', 'list', 'set', 'inet', 'gpuaas', 'slices')).includes(ip),
      port: (await room.run('ovs-vsctl', 'list-ports', BRIDGE)).includes(ovs_port),
      flows: (await room.run('ovs-ofctl', 'dump-flows', BRIDGE)).includes(mac),
    };
    return Object.entries(found).flatMap(([what, there]) => (there ? [what] : []));
  }

  /** Whether an answer came to any of three requests. */
  async function reaches(from: SlicePort, address: string): Promise<boolean> {
    return await within(from, 'busybox', 'ping', '-c', '3', '-W', '1', address).then(
      () => true,
      () => false,
    );
  }

  it('carries packets before anybody guards it: what follows is the guard’s doing', async () => {
    expect(await reaches(one, two.ip)).toBe(true);
    await network('serve', slices);
    for (const slice of slices) await within(slice, 'ip', 'neigh', 'flush', 'all');
  });

  it('lets each slice reach its gateway', async () => {
    for (const slice of slices) expect(await reaches(slice, gateway())).toBe(true);
  });

  it('denies what one slice sends to another, both ways', async () => {
    expect(await reaches(one, two.ip)).toBe(false);
    expect(await reaches(two, one.ip)).toBe(false);
  });

  it('denies it also to a slice that uses the other’s MAC without ARP', async () => {
    await within(one, 'ip', 'neigh', 'replace', two.ip, 'lladdr', two.mac, 'dev', 'eth0');
    await within(two, 'ip', 'neigh', 'replace', one.ip, 'lladdr', one.mac, 'dev', 'eth0');
    expect(await reaches(one, two.ip)).toBe(false);
    for (const slice of slices) await within(slice, 'ip', 'neigh', 'flush', 'all', 'nud', 'permanent');
  });

  it('denies the way round through the host', async () => {
    await within(one, 'ip', 'route', 'add', `${two.ip}/32`, 'via', gateway());
    await within(two, 'ip', 'route', 'add', `${one.ip}/32`, 'via', gateway());
    expect(await reaches(one, two.ip)).toBe(false);
  });

  it('hears no slice that speaks with another’s address', async () => {
    await within(one, 'ip', 'address', 'add', `${two.ip}/32`, 'dev', 'eth0');
    const spoofed = within(one, 'busybox', 'ping', '-c', '2', '-W', '1', '-I', two.ip, gateway());
    await expect(spoofed).rejects.toThrow();
    await within(one, 'ip', 'address', 'del', `${two.ip}/32`, 'dev', 'eth0');
    await within(one, 'ip', 'link', 'set', 'eth0', 'address', two.mac);
    expect(await reaches(one, gateway())).toBe(false);
    await within(one, 'ip', 'link', 'set', 'eth0', 'address', one.mac);
    expect(await reaches(one, gateway())).toBe(true);
  });

  it('takes away every trace of an address that no lease backs, and nothing of another', async () => {
    for (const slice of slices)
      await within(slice, 'busybox', 'udhcpc', '-n', '-q', '-f', '-t', '10', '-i', 'eth0', '-s', '/bin/true');
    const all = ['lease', 'reservation', 'NAT', 'port', 'flows'];
    for (const slice of slices) expect(await known(slice)).toEqual(all);
    const dropped = JSON.parse(await network('drop-stale', [one.allocation_id])) as SlicePort[];
    expect(dropped).toEqual([two]);
    expect(await known(two)).toEqual([]);
    expect(await known(one)).toEqual(all);
    expect(await reaches(one, gateway())).toBe(true);
    expect(JSON.parse(await network('drop-stale', [one.allocation_id]))).toEqual([]);
  });

  it('hands out addresses as a user with no power over the host, which can still read what is reserved', async () => {
    const { pid, hosts, config } = dhcpPaths(join(folder, 'agent'));
    const status = await room.run('cat', `/proc/${(await room.run('cat', pid)).trim()}/status`);
    const [, uid = ''] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
    expect(Number(uid)).toBeGreaterThan(0);
    expect(await room.run('setpriv', `--reuid=${uid}`, '--clear-groups', 'cat', hosts)).toBe(
      await room.run('cat', hosts),
    );
    expect(await room.run('cat', config)).toMatch(/^dhcp-ignore-names$/m);
  });
});
