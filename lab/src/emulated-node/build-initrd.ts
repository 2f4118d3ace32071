import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modulesInLoadOrder } from '../vm/kernel-modules.ts';

/** Modules of Debian's cloud kernel, loaded with their dependencies; NVMe and ext4 are built in. */
const MODULES = ['virtio_pci', 'vfio_iommu_type1', 'vfio-pci'];

/** Tools that the driver runs, as Debian ships them. */
const TOOLS = [
  '/usr/sbin/blkdiscard',
  '/usr/sbin/blockdev',
  '/usr/sbin/wipefs',
  '/usr/sbin/nvme',
  '/usr/bin/setpriv',
  '/usr/bin/lsblk',
];

export interface NodeFiles {
  /** A script that needs nothing but Node. */
  program: string;
  /** Further files, by their place in the node. */
  files: Record<string, { content: string; executable?: boolean }>;
}

/** Kernel and initial file system of an emulated node that runs a program and switches itself off. */
export function buildInitrd(
  work: string,
  kernelPackage: string,
  { program, files }: NodeFiles,
): { kernel: string; initrd: string } {
  const unpacked = join(work, 'kernel');
  run('dpkg-deb', ['--extract', kernelPackage, unpacked]);
  const folder = join(work, 'initrd');
  const at = (path: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  const put = (from: string, to: string): void => {
    copyFileSync(from, at(to));
    chmodSync(at(to), 0o755);
  };
  put(fileURLToPath(new URL('init', import.meta.url)), 'init');
  put('/bin/busybox', 'bin/busybox');
  const places = new Map([
    [process.execPath, '/usr/bin/node'],
    ...TOOLS.map((tool) => [tool, tool] as const),
  ]);
  for (const [tool, place] of places) {
    put(tool, place);
    for (const [library] of run('ldd', [tool]).matchAll(/\/\S+/g))
      if (!existsSync(at(library))) put(library, library);
  }
  const modules = join(unpacked, 'lib/modules');
  const release = readdirSync(modules)[0] ?? '';
  const ordered = modulesInLoadOrder(join(modules, release, 'kernel'), MODULES);
  for (const module of ordered) put(module, `lib/modules/${basename(module)}`);
  writeFileSync(at('lib/modules.order'), ordered.map((module) => basename(module)).join('\n'));
  put(program, 'program.cjs');
  for (const [path, { content, executable = false }] of Object.entries(files)) {
    writeFileSync(at(path), content, { mode: executable ? 0o755 : 0o644 });
  }
  const initrd = join(work, 'initrd.cpio');
  // Not compressed: unpacking costs an emulated processor more than reading.
  execFileSync('sh', ['-c', `find . | cpio --quiet -o -H newc -R 0:0 > '${initrd}'`], { cwd: folder });
  const kernel = readdirSync(join(unpacked, 'boot')).find((name) => name.startsWith('vmlinuz-')) ?? '';
  return { kernel: join(unpacked, 'boot', kernel), initrd };
}

function run(tool: string, args: readonly string[]): string {
  return execFileSync(tool, [...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  });
}
