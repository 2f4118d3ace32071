import type { ObservedDevices } from '../host.ts';
import type { RunCommand } from './commands.ts';
import type { HostFiles } from './host-files.ts';
import { readHostDevices } from './inventory.ts';

/** GPUs and data disks as they are now, for the heartbeat. */
export async function observeDevices(files: HostFiles, run: RunCommand): Promise<ObservedDevices> {
  const { gpus, disks } = await readHostDevices(files, run);
  return {
    gpus: gpus
      .filter(({ device }) => device.known?.role === 'gpu')
      .map(({ device, lost }) => ({
        pci_address: device.address,
        state: lost ? ('lost' as const) : ('ok' as const),
        ...(lost ? { detail: 'the GPU does not answer on the bus' } : {}),
      })),
    disks: disks.flatMap(({ serial, pciAddress, wwid, use }) =>
      serial ? [{ serial, pci_address: pciAddress, wwid, mounts: use.mounts }] : [],
    ),
  };
}
