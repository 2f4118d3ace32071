import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { HostFiles } from '../host-files.ts';
import type { Gpu } from '../inventory/gpus.ts';
import type { Locality } from './domain-xml.ts';

/**
 * Each GPU of a socket owns a fixed share of its cores, so two machines never share a core and no assignment
 * has to be stored. Threads of a core stay together: they share caches, which two tenants must not.
 */
export function localityOf(
  files: HostFiles,
  gpus: readonly Gpu[],
  slots: readonly Pick<SlotBundle, 'numa_node' | 'gpu_pci_address'>[],
  vcpu: number,
): Locality | null {
  const owned = slots.flatMap(({ numa_node, gpu_pci_address }) => {
    const list = files.text(`/sys/devices/system/node/node${numa_node}/cpulist`);
    const neighbours = gpus
      .filter(({ device }) => device.known?.role === 'gpu' && device.numaNode === numa_node)
      .map(({ device }) => device.address);
    const cores = coresOf(files, expandCpuList(list ?? ''));
    return share(cores, neighbours.length, neighbours.indexOf(gpu_pci_address)).flat();
  });
  if (owned.length === 0) return null;
  return {
    numaNodes: [...new Set(slots.map((slot) => slot.numa_node))].toSorted((a, b) => a - b),
    pins: Array.from({ length: vcpu }, (_, index) => owned[index % owned.length] ?? 0),
  };
}

/** Groups processors by core; a processor with unknown siblings is a core alone. */
function coresOf(files: HostFiles, cpus: readonly number[]): number[][] {
  const siblingsOf = (cpu: number): number[] =>
    expandCpuList(files.text(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) ?? '');
  return [...Map.groupBy(cpus, (cpu) => siblingsOf(cpu)[0] ?? cpu).values()];
}

function share<T>(all: readonly T[], among: number, rank: number): T[] {
  if (among === 0 || rank < 0) return [];
  const size = Math.floor(all.length / among);
  return all.slice(rank * size, (rank + 1) * size);
}

/** `0-3,8` is 0, 1, 2, 3, 8. */
export function expandCpuList(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-');
    if (!first) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
  });
}
