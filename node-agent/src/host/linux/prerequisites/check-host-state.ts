import type { PrereqRequirements } from '../../host.ts';
import { missing, ok, type PrereqFinding } from '../../prereq-report.ts';
import type { HostFiles } from '../host-files.ts';
import { readHugepages } from '../inventory/processors.ts';

/** Images by digest, `sha256-<hex>` with any ending. */
const IMAGE_CACHE = '/var/lib/gpuaas/images';
const KIB_PER_GIB = 1024 * 1024;
const KERNEL_PARAMETER = /\b(?:(?:intel_|amd_)?iommu|(?:default_)?hugepagesz|hugepages)=[\w,]+/g;

export function checkHugepages(files: HostFiles, demand: PrereqRequirements): PrereqFinding {
  const free = readHugepages(files).reduce((sum, pool) => sum + pool.free * pool.size_kib, 0) / KIB_PER_GIB;
  const needed = demand.hugepages_gib ?? 0;
  const evidence = `${Math.floor(free)} GiB of hugepages are free, the profile needs ${needed} GiB`;
  return free >= needed
    ? ok(evidence)
    : missing(
        evidence,
        `Add "hugepagesz=1G hugepages=${needed}" to the kernel command line, or write nr_hugepages of each NUMA node, and free what holds them.`,
      );
}

export function checkImageCache(files: HostFiles, demand: PrereqRequirements): PrereqFinding {
  if (!files.exists(IMAGE_CACHE)) {
    return missing(`${IMAGE_CACHE} is not there`, 'Run "gpuaas-node-agent install", which makes the folder.');
  }
  const cached = files.list(IMAGE_CACHE);
  const absent = (demand.images ?? []).filter(
    (digest) => !cached.some((name) => name.startsWith(digest.replace(':', '-'))),
  );
  return absent.length === 0
    ? ok(`${cached.length} images in ${IMAGE_CACHE}`)
    : missing(`not in the cache: ${absent.join(', ')}`, `Fetch the images into ${IMAGE_CACHE}.`);
}

export function checkRebootRequired(files: HostFiles): PrereqFinding {
  const remedy = 'Drain the host and reboot it when it is empty.';
  if (files.exists('/run/reboot-required')) {
    const packages = files.text('/run/reboot-required.pkgs')?.split('\n').join(', ');
    return missing(`/run/reboot-required is there${packages ? ` because of ${packages}` : ''}`, remedy);
  }
  const running = new Set((files.text('/proc/cmdline') ?? '').split(/\s+/));
  const waiting = configuredParameters(files).filter((parameter) => !running.has(parameter));
  if (waiting.length > 0) {
    const evidence = `${waiting.join(' ')} is configured, but the running kernel was started without it`;
    return missing(evidence, remedy);
  }
  return ok('nothing waits for a reboot');
}

/** IOMMU and hugepage parameters in the boot loader's configuration, by an administrator or by bootstrap. */
function configuredParameters(files: HostFiles): string[] {
  const folder = '/etc/default/grub.d';
  const names = files.list(folder).filter((name) => name.endsWith('.cfg'));
  const texts = ['/etc/default/grub', ...names.map((name) => `${folder}/${name}`)].map(
    (path) => files.text(path) ?? '',
  );
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => !/^\s*#/.test(line));
  const found = lines.flatMap((line) => line.match(KERNEL_PARAMETER) ?? []);
  return [...new Set(found)];
}
