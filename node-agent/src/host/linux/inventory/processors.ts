import type { HostFiles } from '../host-files.ts';
import type { Inventory } from './inventory.ts';

const NODES = '/sys/devices/system/node';

export function readProcessors(files: HostFiles): Inventory['cpu'] {
  const text = files.text('/proc/cpuinfo') ?? '';
  const threads = text.split('\n\n').filter((block) => /^processor\s*:/m.test(block));
  const sockets = new Set(threads.map((block) => field(block, 'physical id') ?? '0'));
  const cores = new Set(
    threads.map(
      (block) =>
        `${field(block, 'physical id') ?? '0'}.${field(block, 'core id') ?? field(block, 'processor')}`,
    ),
  );
  return {
    model: field(threads[0] ?? '', 'model name') ?? 'unknown',
    sockets: sockets.size,
    cores: cores.size,
    threads: threads.length,
    numa: numaNodes(files).map((node) => ({
      node,
      cpus: files.text(`${NODES}/node${node}/cpulist`) ?? '',
      memory_kib: memTotal(files.text(`${NODES}/node${node}/meminfo`)),
    })),
  };
}

export function readMemoryKib(files: HostFiles): number {
  return memTotal(files.text('/proc/meminfo'));
}

export function readHugepages(files: HostFiles): Inventory['hugepages'] {
  const nodes = numaNodes(files);
  const perNode = nodes.flatMap((node) => pools(files, `${NODES}/node${node}/hugepages`, node));
  return perNode.length > 0 ? perNode : pools(files, '/sys/kernel/mm/hugepages', null);
}

function pools(files: HostFiles, folder: string, numa_node: number | null): Inventory['hugepages'] {
  return files.list(folder).flatMap((name) => {
    const size = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (!size) return [];
    const total = files.integer(`${folder}/${name}/nr_hugepages`) ?? 0;
    const free = files.integer(`${folder}/${name}/free_hugepages`) ?? 0;
    return [{ numa_node, size_kib: Number(size), total, free }];
  });
}

function numaNodes(files: HostFiles): number[] {
  return files
    .list(NODES)
    .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}

function memTotal(text: string | null): number {
  return Number(/MemTotal:\s*(\d+) kB/.exec(text ?? '')?.[1] ?? 0);
}

function field(block: string, name: string): string | null {
  return new RegExp(`^${name}\\s*:\\s*(.*)$`, 'm').exec(block)?.[1]?.trim() ?? null;
}
