import type { RunCommand } from '../commands.ts';
import type { Gpu } from '../inventory/gpus.ts';
import type { HostFiles } from '../host-files.ts';
import { pciAddress } from './gpu-health.ts';

/** How busy GPUs are in percent, by PCI address. */
export type GpuUse = ReadonlyMap<string, number>;

const CHECK_EVERY_MS = 10_000;

/**
 * Queries the drivers of GPUs that the host itself uses. A GPU in a slice belongs to its guest and the host
 * cannot see its use: it is omitted, which does not mean idle.
 */
export async function readGpuUse(
  files: HostFiles,
  run: RunCommand,
  gpus: readonly Pick<Gpu, 'device'>[],
): Promise<GpuUse> {
  const use = new Map<string, number>();
  for (const { device } of gpus.filter((gpu) => gpu.device.driver === 'amdgpu')) {
    const busy = files.integer(`/sys/bus/pci/devices/${device.address}/gpu_busy_percent`);
    if (busy !== null) use.set(device.address, busy);
  }
  const nvidia = new Set(
    gpus.filter(({ device }) => device.driver === 'nvidia').map((gpu) => gpu.device.address),
  );
  // Without a GPU of its driver nvidia-smi would only try to load it.
  if (nvidia.size === 0) return use;
  const query = ['--query-gpu=pci.bus_id,utilization.gpu', '--format=csv,noheader,nounits'];
  const result = await run('nvidia-smi', query);
  for (const line of result?.stdout.split('\n') ?? []) {
    const [bus = '', busy = ''] = line.split(',').map((part) => part.trim());
    const address = bus && pciAddress(bus);
    if (nvidia.has(address) && /^\d{1,3}$/.test(busy)) use.set(address, Math.min(100, Number(busy)));
  }
  return use;
}

/** Heartbeats are more frequent than useful queries. */
export function cachedGpuUse(
  files: HostFiles,
  run: RunCommand,
  now: () => number = Date.now,
): (gpus: readonly Gpu[]) => Promise<GpuUse> {
  let readAt = -Infinity;
  let latest: Promise<GpuUse> = Promise.resolve(new Map());
  return (gpus) => {
    if (now() - readAt >= CHECK_EVERY_MS) {
      readAt = now();
      latest = readGpuUse(files, run, gpus);
    }
    return latest;
  };
}
