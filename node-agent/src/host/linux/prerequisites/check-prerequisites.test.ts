import { rm } from 'node:fs/promises';
import { parseTaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hgxH200, type HgxOptions } from '../../simulated/host-tree/hgx-h200.ts';
import { allNodes } from '../../simulated/host-tree/host-tree.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import { checkPrerequisites } from './check-prerequisites.ts';
import { runCommand, type CommandResult } from '../commands.ts';
import { openHostFiles } from '../host-files.ts';

type Demand = TaskParams['slice.prereq_check'];
type Tools = Record<string, CommandResult | null>;

const SECURE_BOOT = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';
const READY_FILES = {
  '/proc/cmdline': 'BOOT_IMAGE=/vmlinuz root=/dev/md0 intel_iommu=on iommu=pt',
  '/usr/share/OVMF/OVMF_CODE_4M.fd': '',
  '/dev/kvm': '',
  '/usr/bin/qemu-img': '',
  '/usr/bin/cloud-localds': '',
  '/usr/bin/rdma': '',
  '/usr/bin/ibv_devinfo': '',
  '/usr/sbin/ibstat': '',
  [`/var/lib/gpuaas/images/sha256-${'ab'.repeat(32)}.img`]: '',
};
const READY_TOOLS: Tools = {
  'ovs-vsctl': { code: 0, stdout: 'ovsbr0\n', stderr: '' },
  virsh: { code: 0, stdout: 'Running hypervisor: QEMU 8.2.2\n', stderr: '' },
  'qemu-system-x86_64': { code: 0, stdout: '(qemu) quit\n', stderr: '' },
};

let root: string;
beforeEach(async () => {
  root = await makeTreeFolder();
});
afterEach(() => rm(root, { recursive: true }));

interface Situation {
  board?: Partial<HgxOptions>;
  withoutIommu?: boolean;
  /** Null removes a file. */
  files?: Record<string, string | null>;
  tools?: Tools;
  demand?: Demand;
}

async function check({ board, withoutIommu, files = {}, tools = {}, demand = {} }: Situation = {}) {
  const host = hgxH200({ functionDriver: 'vfio-pci', ...board });
  for (const [path, content] of Object.entries({ ...READY_FILES, ...files })) {
    if (content !== null) host.files[path] = content;
  }
  if (withoutIommu) for (const node of allNodes(host)) delete node.iommuGroup;
  writeHostTree(root, host);
  const all = { ...READY_TOOLS, ...tools };
  const run = (tool: string): Promise<CommandResult | null> => Promise.resolve(all[tool] ?? null);
  const report = parseTaskOutput(
    'slice.prereq_check',
    await checkPrerequisites(openHostFiles(root), run, demand),
  );
  const misses = report.checks.filter(({ state }) => state !== 'ok');
  expect(misses.every(({ remedy }) => remedy !== null)).toBe(true);
  return { ...report, misses: misses.map(({ id, state }) => `${id} ${state}`) };
}

it('a prepared HGX host is ready', async () => {
  const demand = { hugepages_gib: 1_920, secure_boot_disabled: true, images: [`sha256:${'ab'.repeat(32)}`] };
  expect(await check({ demand })).toMatchObject({ ready: true, reboot_required: false, misses: [] });
});

const broken: [string, Situation, string][] = [
  ['firmware without UEFI guests', { files: { '/usr/share/OVMF/OVMF_CODE_4M.fd': null } }, 'uefi missing'],
  ['Secure Boot on', { files: { [SECURE_BOOT]: '\u0006\0\0\0\u0001' } }, 'secure_boot warning'],
  [
    'Secure Boot on, profile needs it off',
    { files: { [SECURE_BOOT]: '\u0006\0\0\0\u0001' }, demand: { secure_boot_disabled: true } },
    'secure_boot missing',
  ],
  [
    'an unreadable Secure Boot variable, profile needs it off',
    { files: { [SECURE_BOOT]: '' }, demand: { secure_boot_disabled: true } },
    'secure_boot unknown',
  ],
  ['functions at the driver of their vendor', { board: { functionDriver: 'mlx5_core' } }, 'vfio missing'],
  ['IOMMU off', { withoutIommu: true }, 'iommu missing'],
  ['adapters without functions', { board: { virtualFunctions: 0 } }, 'sriov missing'],
  ['too few hugepages', { demand: { hugepages_gib: 1_921 } }, 'hugepages missing'],
  ['no Open vSwitch', { tools: { 'ovs-vsctl': null } }, 'ovs missing'],
  [
    'Open vSwitch down',
    { tools: { 'ovs-vsctl': { code: 1, stdout: '', stderr: 'db.sock: connection failed' } } },
    'ovs unknown',
  ],
  ['another bridge', { demand: { ovs_bridge: 'ovsbr1' } }, 'ovs missing'],
  ['no libvirt', { tools: { virsh: null } }, 'libvirt missing'],
  ['no KVM', { files: { '/dev/kvm': null } }, 'libvirt missing'],
  [
    'KVM that cannot run a machine',
    { tools: { 'qemu-system-x86_64': { code: 134, stdout: '', stderr: 'failed to set MSR 0x10a' } } },
    'libvirt missing',
  ],
  ['no qemu-img', { files: { '/usr/bin/qemu-img': null } }, 'cloud_init_tools missing'],
  ['no ibstat', { files: { '/usr/sbin/ibstat': null } }, 'rdma_tools missing'],
  ['image not cached', { demand: { images: [`sha256:${'cd'.repeat(32)}`] } }, 'image_cache missing'],
  ['packages want a reboot', { files: { '/run/reboot-required': '' } }, 'reboot_required missing'],
];

it.each(broken)('%s', async (_name, situation, miss) => {
  const report = await check(situation);
  expect(report.misses).toEqual([miss]);
  expect(report.ready).toBe(miss.endsWith('warning'));
});

it('a parameter that was set but not booted asks for a reboot', async () => {
  const report = await check({
    files: {
      '/proc/cmdline': 'root=/dev/md0',
      '/etc/default/grub': 'GRUB_CMDLINE_LINUX="intel_iommu=on iommu=pt"',
    },
  });
  expect(report.reboot_required).toBe(true);
});

it('parameters that bootstrap set ask for a reboot, by name, until the kernel runs with them', async () => {
  const parameters = 'intel_iommu=on iommu=pt default_hugepagesz=2M hugepagesz=1G hugepages=960';
  const files = {
    '/etc/default/grub': '#GRUB_CMDLINE_LINUX="hugepages=1"',
    '/etc/default/grub.d/60-gpuaas.cfg': `GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT ${parameters}"`,
  };
  const before = await check({ files: { ...files, '/proc/cmdline': 'ro intel_iommu=on iommu=pt' } });
  expect(before.reboot_required).toBe(true);
  expect(before.checks.find(({ id }) => id === 'reboot_required')?.evidence).toMatch(
    /^default_hugepagesz=2M hugepagesz=1G hugepages=960 is configured/,
  );
  const after = await check({ files: { ...files, '/proc/cmdline': `ro ${parameters}` } });
  expect(after.reboot_required).toBe(false);
});

it('a GPU at the vendor’s driver is not ready for slices', async () => {
  const host = hgxH200({ functionDriver: 'vfio-pci' });
  Object.assign(host.files, READY_FILES);
  const gpu = allNodes(host).find(({ address }) => address === '0000:1b:00.0');
  Object.assign(gpu ?? {}, { driver: 'nvidia' });
  writeHostTree(root, host);
  const report = await checkPrerequisites(openHostFiles(root), () => Promise.resolve(null), {});
  expect(report.checks.find(({ id }) => id === 'vfio')).toMatchObject({
    state: 'missing',
    evidence: 'not bound to vfio-pci: 0000:1b:00.0 (nvidia)',
  });
});

it('a host without a GPU is not ready for slices', async () => {
  expect((await check({ board: { gpus: 0 } })).misses).toEqual(['vfio missing', 'sriov missing']);
});

it('asks for the bridge that this host is set to, unless the profile names another', async () => {
  writeHostTree(root, hgxH200());
  const ovs = async (demand: Demand) => {
    const settings = { accelerator: 'kvm', bridge: 'br-tenants' } as const;
    const run = (tool: string) =>
      Promise.resolve(tool === 'ovs-vsctl' ? { code: 0, stdout: 'br-tenants\n', stderr: '' } : null);
    const report = await checkPrerequisites(openHostFiles(root), run, demand, settings);
    return report.checks.find(({ id }) => id === 'ovs')?.state;
  };
  expect([await ovs({}), await ovs({ ovs_bridge: 'ovsbr0' })]).toEqual(['ok', 'missing']);
});

it('survives an ordinary machine and finds it not ready', async () => {
  const report = await checkPrerequisites(openHostFiles('/'), runCommand, {});
  parseTaskOutput('slice.prereq_check', report);
  expect(report.checks).toHaveLength(12);
  expect(report.checks.filter(({ state }) => state === 'missing').every(({ remedy }) => remedy)).toBe(true);
});
