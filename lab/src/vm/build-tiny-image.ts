import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { fetchKernel } from './debian-kernel.ts';
import { modulesInLoadOrder } from './kernel-modules.ts';

const PARTS = fileURLToPath(new URL('tiny-image/', import.meta.url));
const MODULES_BEFORE_ROOT = ['virtio_pci', 'virtio_blk'];
const MODULES_AFTER_ROOT = ['virtio_net', 'isofs', 'button', 'evdev'];
/** Files of the image that the order of modules is read from. */
const MODULE_LIST = 'lib/modules.order';

export interface TinyImage {
  file: string;
  digest: string;
}

export interface TinyImageOptions {
  /** Kept between runs: the kernel's package and the images built so far. */
  cache: string;
  /** A guest that ignores the power button. */
  ignoresPowerButton?: boolean;
}

/** A disk image that boots Debian's cloud kernel into busybox and dropbear in a few seconds, also under emulation. */
export function buildTinyImage({ cache, ignoresPowerButton = false }: TinyImageOptions): TinyImage {
  mkdirSync(cache, { recursive: true });
  const kernel = fetchKernel(cache);
  const parts = readdirSync(PARTS).toSorted();
  const versions = run('dpkg-query', ['--show', 'busybox-static', 'dropbear-bin', 'syslinux', 'libc6']);
  const recipe = createHash('sha256').update(`${basename(kernel)} ${versions} ${ignoresPowerButton}`);
  for (const name of parts) recipe.update(readFileSync(join(PARTS, name)));
  recipe.update(readFileSync(fileURLToPath(import.meta.url)));
  const file = join(cache, `tiny-${recipe.digest('hex').slice(0, 16)}.qcow2`);
  if (!existsSync(file)) build(file, kernel, ignoresPowerButton);
  return { file, digest: `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}` };
}

function build(file: string, kernel: string, ignoresPowerButton: boolean): void {
  const work = mkdtempSync(`${file}.`);
  try {
    run('dpkg-deb', ['--extract', kernel, join(work, 'kernel')]);
    const root = layOutRoot(work, ignoresPowerButton);
    const initrd = packInitrd(work);
    const rootDisk = join(work, 'root.ext4');
    const features = ['-O', '^has_journal,^metadata_csum', '-E', 'root_owner=0:0', '-L', 'tinyroot'];
    run('mke2fs', ['-q', '-t', 'ext4', ...features, '-d', root, rootDisk, '64M']);
    const bootDisk = makeBootPartition(work, initrd);
    const disk = joinPartitions(work, bootDisk, rootDisk);
    run('qemu-img', ['convert', '-O', 'qcow2', '-c', disk, join(work, 'disk.qcow2')]);
    renameSync(join(work, 'disk.qcow2'), file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function layOutRoot(work: string, ignoresPowerButton: boolean): string {
  const root = join(work, 'root');
  const at = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  for (const folder of ['proc', 'sys', 'dev', 'run', 'tmp', 'mnt', 'home', 'root', 'var/log']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync('/bin/busybox', at('bin/busybox'));
  for (const applet of run('/bin/busybox', ['--list']).split('\n')) {
    if (applet !== '' && applet !== 'busybox') symlinkSync('busybox', at(`bin/${applet}`));
  }
  for (const program of ['/usr/sbin/dropbear', '/usr/bin/dropbearconvert']) {
    copyFileSync(program, at(`usr/sbin/${basename(program)}`));
    for (const [library] of run('ldd', [program]).matchAll(/\/\S+/g)) copyFileSync(library, at(library));
  }
  const modules = modulesInLoadOrder(modulesOf(work), [...MODULES_BEFORE_ROOT, ...MODULES_AFTER_ROOT]);
  const before = new Set(modulesInLoadOrder(modulesOf(work), MODULES_BEFORE_ROOT));
  const after = modules.filter((module) => !before.has(module));
  for (const module of after) copyFileSync(module, at(`lib/modules/${basename(module)}`));
  writeFileSync(at(MODULE_LIST), after.map((module) => `${basename(module)}\n`).join(''));
  writeFileSync(at('etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(at('etc/shadow'), 'root:*:19000:0:99999:7:::\n');
  writeFileSync(at('etc/group'), 'root:x:0:\n');
  writeFileSync(at('etc/shells'), '/bin/sh\n');
  writeFileSync(at('etc/nsswitch.conf'), 'passwd: files\ngroup: files\nshadow: files\n');
  if (ignoresPowerButton) writeFileSync(at('etc/ignore-power-button'), '');
  cpSync(join(PARTS, 'inittab'), at('etc/inittab'));
  for (const [part, place] of [
    ['init', 'sbin/init'],
    ['udhcpc.sh', 'etc/udhcpc.sh'],
    ['power-button.sh', 'etc/acpi/PWRF/00000080'],
  ] as const) {
    cpSync(join(PARTS, part), at(place));
    chmodSync(at(place), 0o755);
  }
  return root;
}

function packInitrd(work: string): string {
  const folder = join(work, 'initrd');
  for (const name of ['bin', 'lib', 'dev', 'mnt']) mkdirSync(join(folder, name), { recursive: true });
  copyFileSync('/bin/busybox', join(folder, 'bin/busybox'));
  const modules = modulesInLoadOrder(modulesOf(work), MODULES_BEFORE_ROOT);
  for (const module of modules) copyFileSync(module, join(folder, 'lib', basename(module)));
  writeFileSync(join(folder, MODULE_LIST), modules.map((module) => `${basename(module)}\n`).join(''));
  cpSync(join(PARTS, 'initrd-init'), join(folder, 'init'));
  chmodSync(join(folder, 'init'), 0o755);
  const names = run('find', ['.'], folder);
  const options = { cwd: folder, input: names, maxBuffer: 64 * 2 ** 20 };
  const archive = execFileSync('cpio', ['--quiet', '-o', '-H', 'newc', '-R', '0:0'], options);
  const file = join(work, 'initrd.gz');
  writeFileSync(file, gzipSync(archive, { level: 1 }));
  return file;
}

function makeBootPartition(work: string, initrd: string): string {
  const disk = join(work, 'boot.fat');
  run('truncate', ['--size', '40M', disk]);
  run('mformat', ['-i', disk, '-H', '2048', '-F', '-v', 'TINYBOOT', '::']);
  const kernel = join(work, 'kernel/boot');
  const vmlinuz = readdirSync(kernel).find((name) => name.startsWith('vmlinuz-')) ?? '';
  copyFileSync(join(kernel, vmlinuz), join(work, 'vmlinuz'));
  run('mcopy', ['-i', disk, join(work, 'vmlinuz'), initrd, join(PARTS, 'syslinux.cfg'), '::']);
  run('syslinux', ['--install', disk]);
  return disk;
}

/** A master boot record, a gap of 1 MiB, and the two partitions. */
function joinPartitions(work: string, boot: string, root: string): string {
  const disk = join(work, 'disk.raw');
  run('truncate', ['--size', '106M', disk]);
  const table = 'label: dos\nstart=2048,size=81920,type=c,bootable\nstart=83968,size=131072,type=83\n';
  execFileSync('sfdisk', ['--quiet', disk], { input: table });
  const put = (from: string, ...place: string[]): string =>
    run('dd', [`if=${from}`, `of=${disk}`, 'conv=notrunc', 'status=none', ...place]);
  put(boot, 'bs=1M', 'seek=1');
  put(root, 'bs=1M', 'seek=41');
  put('/usr/lib/syslinux/mbr/mbr.bin', 'bs=440', 'count=1');
  return disk;
}

function modulesOf(work: string): string {
  const modules = join(work, 'kernel/lib/modules');
  return join(modules, readdirSync(modules)[0] ?? '', 'kernel');
}

function run(tool: string, args: readonly string[], cwd = '/'): string {
  return execFileSync(tool, [...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  });
}
