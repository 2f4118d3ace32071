import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface EmulatedNode {
  kernel: string;
  initrd: string;
  /** Holds the disks, which outlive a boot. */
  folder: string;
}

const MIB = 2 ** 20;
export const DATA_SERIAL = 'DATA0001';
export const DATA_BYTES = 64 * MIB;

/** A data disk with something on it, and a disk for the agent's state. */
export function createDisks(folder: string): void {
  execFileSync('dd', [
    'if=/dev/urandom',
    `of=${join(folder, 'data.img')}`,
    'bs=1M',
    'count=64',
    'status=none',
  ]);
  execFileSync('truncate', ['--size', '32M', join(folder, 'state.img')]);
  execFileSync('mke2fs', ['-q', '-t', 'ext4', join(folder, 'state.img')]);
}

/**
 * Boots a two-socket machine with an IOMMU and waits until it has switched itself off. The first socket has a
 * stand-in for a GPU (a virtio device: it has its own driver and can be reset) and the data disk; the second
 * has an NVMe controller with SR-IOV as the stand-in for the adapter. Returns the serial output.
 */
export async function bootNode(
  { kernel, initrd, folder }: EmulatedNode,
  deadlineMs: number,
): Promise<string> {
  const disk = (name: string): string[] => [
    '-drive',
    `file=${join(folder, `${name}.img`)},format=raw,if=none,id=${name},discard=unmap`,
  ];
  const port = (id: string, socket: number, slot: number): string[] => [
    '-device',
    `pcie-root-port,id=${id},bus=socket${socket},chassis=${slot},slot=${slot}`,
  ];
  const words = [
    ...['-machine', 'q35,kernel-irqchip=split', '-accel', 'tcg,thread=multi', '-cpu', 'max'],
    ...['-smp', '2', '-m', '1024', '-display', 'none', '-nodefaults', '-serial', 'stdio', '-no-reboot'],
    ...['-object', 'memory-backend-ram,id=m0,size=512M', '-object', 'memory-backend-ram,id=m1,size=512M'],
    ...['-numa', 'node,nodeid=0,cpus=0,memdev=m0', '-numa', 'node,nodeid=1,cpus=1,memdev=m1'],
    ...['-device', 'intel-iommu,intremap=off,caching-mode=on'],
    ...['-device', 'pxb-pcie,id=socket0,bus_nr=64,numa_node=0,bus=pcie.0'],
    ...['-device', 'pxb-pcie,id=socket1,bus_nr=128,numa_node=1,bus=pcie.0'],
    ...port('p0', 0, 1),
    ...port('p1', 0, 2),
    ...port('p2', 1, 3),
    ...port('p3', 1, 4),
    ...['-device', 'virtio-rng-pci,bus=p0,disable-legacy=on,iommu_platform=on'],
    ...disk('data'),
    ...['-device', `nvme,serial=${DATA_SERIAL},drive=data,bus=p1,use-intel-id=on`],
    ...['-device', 'nvme-subsys,id=adapter'],
    '-device',
    'nvme,serial=ADAPTER1,bus=p2,subsys=adapter,max_ioqpairs=7,msix_qsize=8,sriov_max_vfs=2,sriov_vq_flexible=4,sriov_vi_flexible=4',
    ...disk('state'),
    ...['-device', 'nvme,serial=STATE,drive=state,bus=p3,use-intel-id=on'],
    ...['-kernel', kernel, '-initrd', initrd],
    ...['-append', 'console=ttyS0 quiet intel_iommu=on iommu=pt panic=-1'],
  ];
  const machine = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'qemu-system-x86_64', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: Buffer[] = [];
  machine.stdout.on('data', (part: Buffer) => parts.push(part));
  machine.stderr.on('data', (part: Buffer) => parts.push(part));
  const timer = setTimeout(() => machine.kill('SIGKILL'), deadlineMs);
  await new Promise((resolve, reject) => machine.once('exit', resolve).once('error', reject));
  clearTimeout(timer);
  return Buffer.concat(parts).toString('utf8');
}
