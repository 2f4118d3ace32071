import type { ObservedDevices } from '../../host.ts';
import type { RunCommand } from '../commands.ts';
import type { GpuFaults } from './gpu-health.ts';
import type { GpuUse } from './gpu-use.ts';
import type { Gpu } from '../inventory/gpus.ts';
import type { HostFiles } from '../host-files.ts';
import { readHostDevices } from '../inventory/inventory.ts';

/** GPUs and data disks as they are now, for the heartbeat. */
export async function observeDevices(
  files: HostFiles,
  run: RunCommand,
  faults: GpuFaults,
  useOf: (gpus: readonly Gpu[]) => Promise<GpuUse>,
): Promise<ObservedDevices> {
  const { gpus, disks } = await readHostDevices(files, run);
  const use = await useOf(gpus);
  return {
    gpus: gpus
      .filter(({ device }) => device.known?.role === 'gpu')
      .map((gpu) => ({
        pci_address: gpu.device.address,
        ...healthOf(gpu, faults),
        ...busyness(use.get(gpu.device.address)),
      })),
    disks: disks.flatMap(({ serial, pciAddress, wwid, use }) =>
      serial ? [{ serial, pci_address: pciAddress, wwid, mounts: use.mounts }] : [],
    ),
  };
}

function busyness(percent: number | undefined): { utilisation_percent?: number } {
  return percent === undefined ? {} : { utilisation_percent: percent };
}

function healthOf({ device, lost }: Gpu, faults: GpuFaults) {
  if (lost) return { state: 'lost' as const, detail: 'the GPU does not answer on the bus' };
  const detail = faults.get(device.address);
  return detail ? { state: 'failing' as const, detail } : { state: 'ok' as const };
}
