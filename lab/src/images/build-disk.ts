import { copyFileSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SNAPSHOT } from './recipes.ts';
import { runTool } from './run-tool.ts';

/** Id of the partition table; the second partition is found by it. */
const DISK_ID = '67707561';
const BOOT_MIB = 127;
const ROOT_UUID = '67707561-6173-4173-8173-000000000001';
const COMMAND_LINE = `root=PARTUUID=${DISK_ID}-02 rootwait rw console=tty0 console=ttyS0 panic=-1`;
const env = { SOURCE_DATE_EPOCH: String(SNAPSHOT.epoch), E2FSPROGS_FAKE_TIME: String(SNAPSHOT.epoch) };

/** A disk that boots by UEFI and by BIOS: a boot partition with the kernel, and the root. */
export function buildDisk(archive: string, rootMib: number, work: string, file: string): void {
  const root = makeRoot(archive, rootMib, work);
  const boot = makeBoot(archive, work);
  const disk = join(work, 'disk.raw');
  runTool('truncate', ['--size', `${1 + BOOT_MIB + rootMib}M`, disk]);
  const sectors = (mib: number): number => mib * 2048;
  // UEFI firmware needs type EF, a BIOS the boot flag.
  const table = `label: dos
label-id: 0x${DISK_ID}
start=2048,size=${sectors(BOOT_MIB)},type=ef,bootable
start=${sectors(1 + BOOT_MIB)},size=${sectors(rootMib)},type=83
`;
  runTool('sfdisk', ['--quiet', disk], { input: table });
  const put = (from: string, ...place: string[]): string =>
    runTool('dd', [`if=${from}`, `of=${disk}`, 'conv=notrunc,sparse', 'status=none', ...place]);
  put(boot, 'bs=1M', 'seek=1');
  put(root, 'bs=1M', `seek=${1 + BOOT_MIB}`);
  runTool('dd', [
    'if=/usr/lib/syslinux/mbr/mbr.bin',
    `of=${disk}`,
    'conv=notrunc',
    'status=none',
    'bs=440',
    'count=1',
  ]);
  const packed = join(work, 'disk.qcow2');
  // One at a time, so that clusters are in the order of the disk.
  runTool('qemu-img', ['convert', '-m', '1', '-c', '-O', 'qcow2', disk, packed]);
  renameSync(packed, file);
}

/**
 * The archive is unpacked into memory, where the order of a folder is the order of the archive, and turned
 * into a file system with fixed ids. Its tools cannot clamp the change time of an inode, so that is set
 * afterwards.
 */
function makeRoot(archive: string, rootMib: number, work: string): string {
  const [disk, tree] = [join(work, 'root.ext4'), join(work, 'tree')];
  mkdirSync(tree);
  const make = `set -e
mount -t tmpfs -o size=80% tmpfs "$TREE"
tar --extract --numeric-owner --xattrs --file "$ARCHIVE" --directory "$TREE"
mke2fs -q -t ext4 -L gpuaas-root -U ${ROOT_UUID} -E hash_seed=${ROOT_UUID},root_owner=0:0,lazy_itable_init=0 \
  -d "$TREE" "$DISK" ${rootMib}M
cd "$TREE" && find . -mindepth 1 | LC_ALL=C sort`;
  const paths = runTool('unshare', ['--mount', 'sh', '-c', make], {
    env: { ...env, TREE: tree, ARCHIVE: archive, DISK: disk },
  });
  const at = `@${SNAPSHOT.epoch}`;
  const fix = [
    '/',
    '/lost+found',
    ...paths
      .split('\n')
      .filter(Boolean)
      .map((path) => path.slice(1)),
  ]
    .flatMap((path) =>
      ['ctime', 'atime', 'crtime'].map((field) => `set_inode_field "${path}" ${field} ${at}\n`),
    )
    .join('');
  const script = join(work, 'times');
  writeFileSync(script, fix);
  runTool('debugfs', ['-w', '-f', script, disk], { env });
  return disk;
}

function makeBoot(archive: string, work: string): string {
  const disk = join(work, 'boot.fat');
  runTool('tar', ['--extract', '--file', archive, '--directory', work, '--wildcards', './boot/vmlinuz-*']);
  const kernels = readdirSync(join(work, 'boot')).filter((name) => name.startsWith('vmlinuz-'));
  if (kernels.length !== 1) throw new Error(`the root has ${kernels.length} kernels, not one`);
  copyFileSync(join(work, 'boot', kernels[0] ?? ''), join(work, 'vmlinuz'));
  const entry = 'title gpuaas\nlinux /vmlinuz\noptions ' + COMMAND_LINE + '\n';
  writeFileSync(join(work, 'gpuaas.conf'), entry);
  writeFileSync(join(work, 'loader.conf'), 'timeout 0\ndefault gpuaas.conf\n');
  writeFileSync(
    join(work, 'syslinux.cfg'),
    `DEFAULT gpuaas\nPROMPT 0\nTIMEOUT 0\nLABEL gpuaas\n KERNEL vmlinuz\n APPEND ${COMMAND_LINE}\n`,
  );
  runTool('truncate', ['--size', `${BOOT_MIB}M`, disk]);
  runTool('mformat', ['-i', disk, '-H', '2048', '-F', '-N', DISK_ID, '-v', 'GPUAASBOOT', '::'], { env });
  runTool('mmd', ['-i', disk, '::/EFI', '::/EFI/BOOT', '::/loader', '::/loader/entries'], { env });
  const put = (from: string, to: string): string => runTool('mcopy', ['-i', disk, from, `::${to}`], { env });
  put(join(work, 'vmlinuz'), '/vmlinuz');
  put(join(work, 'syslinux.cfg'), '/syslinux.cfg');
  put('/usr/lib/systemd/boot/efi/systemd-bootx64.efi', '/EFI/BOOT/BOOTX64.EFI');
  put(join(work, 'loader.conf'), '/loader/loader.conf');
  put(join(work, 'gpuaas.conf'), '/loader/entries/gpuaas.conf');
  runTool('syslinux', ['--install', disk], { env });
  return disk;
}
