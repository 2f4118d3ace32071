import { readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunCommand } from '../../host/linux/commands.ts';
import { hgxH200 } from '../../host/simulated/host-tree/hgx-h200.ts';
import { makeTreeFolder } from '../../testing/tree-folder.ts';
import { writeHostTree } from '../../host/simulated/host-tree/write-host-tree.ts';
import { bootstrap, type BootstrapCommand } from './bootstrap.ts';

let root: string;
let printed: string;
let ran: string[];
let bridges: string;
let networks: string;
beforeEach(async () => {
  root = await makeTreeFolder();
  [printed, ran, bridges, networks] = ['', [], '', ''];
  writeHostTree(root, hgxH200({ gpus: 2 }));
});
afterEach(() => rm(root, { recursive: true }));

const print = (text: string): void => void (printed += `${text}\n`);
/** A Debian host on which every command works. */
const run: RunCommand = (tool, args) => {
  const line = [tool, ...args].join(' ');
  if (tool === 'dpkg-query') {
    const installed = args.slice(2).map((name) => `${name} installed\n`);
    return Promise.resolve({ code: 0, stdout: installed.slice(1).join(''), stderr: '' });
  }
  if (line.includes('list-br')) return Promise.resolve({ code: 0, stdout: bridges, stderr: '' });
  if (line.includes('net-list')) return Promise.resolve({ code: 0, stdout: networks, stderr: '' });
  if (tool === 'lsblk') return Promise.resolve(null);
  ran.push(line);
  if (line.includes('add-br')) bridges = 'ovsbr0\n';
  if (line.includes('net-autostart --disable')) networks = '';
  return Promise.resolve({ code: 0, stdout: '', stderr: '' });
};

function command(change: Partial<BootstrapCommand> = {}): BootstrapCommand {
  return {
    root,
    hostname: 'hgx-01',
    bridge: 'ovsbr0',
    hugepagesGib: 960,
    networkProfile: 'standard',
    apply: false,
    isRoot: true,
    ...change,
  };
}

const at = (path: string): string => readFileSync(join(root, path), 'utf8');

it('prints its plan and a due reboot, and changes nothing', async () => {
  await bootstrap(command({ isRoot: false }), run, print);
  expect(ran).toEqual([]);
  for (const words of [
    'todo  install qemu-system-x86',
    'todo  make the bridge ovsbr0',
    'todo  write /etc/default/grub.d/60-gpuaas.cfg',
    'reboot_required: yes (the kernel runs without intel_iommu=on iommu=pt default_hugepagesz=2M hugepagesz=1G hugepages=960',
  ]) {
    expect(printed).toContain(words);
  }
});

it('applies the changes, and a second run changes nothing', async () => {
  await bootstrap(command({ apply: true }), run, print);
  expect(at('etc/default/grub.d/60-gpuaas.cfg')).toContain('intel_iommu=on iommu=pt');
  expect(at('etc/modprobe.d/gpuaas-vfio.conf')).toContain('ids=10de:2335,15b3:101e');
  expect(at('var/lib/gpuaas/dhcp/dnsmasq.conf')).toMatch(/dhcp-range=10\.\d+\.\d+\.0,static/);
  expect(statSync(join(root, 'etc/systemd/system/gpuaas-dhcp.service')).mode & 0o777).toBe(0o644);
  expect(ran).toEqual(
    expect.arrayContaining([
      'ovs-vsctl --may-exist add-br ovsbr0',
      'update-grub',
      'update-initramfs -u',
      'systemctl enable gpuaas-dhcp.service',
      'systemctl restart gpuaas-dhcp.service',
    ]),
  );
  printed = '';
  await bootstrap(command(), run, print);
  expect(printed.match(/^todo/gm)).toHaveLength(1);
  expect(printed).toContain('todo  install qemu-system-x86');
});

it('keeps the host from assembling what tenants write, but not what it uses itself', async () => {
  await bootstrap(command({ apply: true }), run, print);
  const rules = at('etc/udev/rules.d/62-gpuaas-slot-disks.rules').split('\n');
  expect(rules.filter((rule) => rule.includes('ID_SERIAL_SHORT'))).toEqual([
    'ENV{ID_SERIAL_SHORT}=="BTLA321000", GOTO="gpuaas_end"',
    'ENV{ID_SERIAL_SHORT}=="BTLA321001", GOTO="gpuaas_end"',
  ]);
  expect(rules).toContain(
    'ENV{ID_FS_TYPE}=="*_member", ENV{GPUAAS_FS_TYPE}="$env{ID_FS_TYPE}", ENV{ID_FS_TYPE}=""',
  );
  expect(ran).toContain('udevadm control --reload');
});

it('finishes an interrupted change even though its file is in place', async () => {
  const failing: RunCommand = async (tool, args) =>
    tool === 'update-grub' ? { code: 1, stdout: '', stderr: 'no space left' } : await run(tool, args);
  await expect(bootstrap(command({ apply: true }), failing, print)).rejects.toThrow('update-grub failed');
  expect(at('etc/default/grub.d/60-gpuaas.cfg')).toContain('iommu=pt');
  printed = '';
  await bootstrap(command({ apply: true }), run, print);
  expect(printed).toContain('todo  write /etc/default/grub.d/60-gpuaas.cfg');
  expect(ran).toContain('update-grub');
  printed = '';
  await bootstrap(command(), run, print);
  expect(printed).toContain('ok    /etc/default/grub.d/60-gpuaas.cfg');
});

it('disables the libvirt network also after an interrupted run', async () => {
  const running: RunCommand = async (tool, args) =>
    args.includes('net-list') && !args.includes('--autostart')
      ? { code: 0, stdout: 'default\n', stderr: '' }
      : await run(tool, args);
  await bootstrap(command({ apply: true }), running, print);
  expect(ran.filter((line) => line.startsWith('virsh'))).toEqual([
    'virsh --quiet --connect qemu:///system net-destroy default',
  ]);
});

it('lets only the agent start machines, and disables libvirt’s default network', async () => {
  networks = 'default\n';
  await bootstrap(command({ apply: true }), run, print);
  expect(at('etc/systemd/system/libvirt-guests.service.d/60-gpuaas.conf')).toContain('ExecStart=/bin/true\n');
  const virsh = 'virsh --quiet --connect qemu:///system';
  expect(ran.filter((line) => line.startsWith('virsh'))).toEqual([
    `${virsh} net-autostart --disable default`,
    `${virsh} net-destroy default`,
  ]);
  printed = '';
  await bootstrap(command(), run, print);
  expect(printed).not.toContain('network that libvirt brings');
});

it('loads the InfiniBand driver on hosts with such adapters', async () => {
  await bootstrap(command({ apply: true }), run, print);
  expect(at('etc/modules-load.d/gpuaas.conf')).toBe('vfio\nvfio_iommu_type1\nvfio_pci\nib_ipoib\n');
  expect(ran).toContain('modprobe --all vfio-pci ib_ipoib');
});

it('reports no reboot once the kernel runs with the parameters', async () => {
  await bootstrap(command({ apply: true }), run, print);
  const files = {
    '/proc/cmdline':
      'root=/dev/md0 intel_iommu=on iommu=pt default_hugepagesz=2M hugepagesz=1G hugepages=960',
  };
  const tree = hgxH200({ gpus: 2 });
  writeHostTree(root, { ...tree, files: { ...tree.files, ...files } });
  printed = '';
  await bootstrap(command(), run, print);
  expect(printed).toContain('reboot_required: no');
});

it('tunes the network of the host by its profile, and DHCP sends it to guests', async () => {
  await bootstrap(command({ apply: true }), run, print);
  expect(at('etc/sysctl.d/60-gpuaas.conf')).toBe('net.ipv4.ip_forward = 1\n');
  expect(at('var/lib/gpuaas/dhcp/dnsmasq.conf')).not.toContain('option:mtu');
  ran = [];
  await bootstrap(command({ apply: true, networkProfile: 'throughput' }), run, print);
  expect(ran).toContain('systemctl restart gpuaas-dhcp.service');
  expect(at('etc/sysctl.d/60-gpuaas.conf')).toContain('net.ipv4.tcp_rmem = 4096 131072 67108864\n');
  expect(at('var/lib/gpuaas/dhcp/dnsmasq.conf')).toContain('dhcp-option=option:mtu,9000\n');
  expect(at('etc/systemd/system/gpuaas-dhcp.service')).toContain(
    'ExecStartPre=ovs-vsctl set interface ovsbr0 mtu_request=9000\n',
  );
});

it('needs root only to change something', async () => {
  await expect(bootstrap(command({ apply: true, isRoot: false }), run, print)).rejects.toThrow('needs root');
});
