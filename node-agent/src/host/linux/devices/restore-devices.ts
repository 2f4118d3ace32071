import { errorMessage, type Logger } from '../../../logger.ts';
import type { RunCommand } from '../commands.ts';
import { readFabrics, type Fabric } from '../inventory/fabrics.ts';
import { readPciDevices } from '../inventory/pci.ts';
import { bindDriver, VFIO } from './bind-driver.ts';
import { readDeviceBindings } from './device-bindings.ts';
import { assignGuids } from './function-guids.ts';
import { deviceFolder, type Sysfs } from './sysfs.ts';
import { createFunctions } from './virtual-functions.ts';

export interface DeviceRestoration {
  sysfs: Sysfs;
  run: RunCommand;
  dir: string;
  log: Logger;
}

/**
 * After a boot: adapters create their functions again, which get their GUIDs before devices go back to
 * vfio-pci. An adapter that has functions keeps them, because machines may use them. A failing device is
 * logged and does not stop the others; machines that need it do not start and are reported as stopped.
 */
export async function restoreDevices({ sysfs, run, dir, log }: DeviceRestoration): Promise<void> {
  const note = await readDeviceBindings(dir);
  if (!note) return;
  const { files } = sysfs;
  let restored = 0;
  const nameless = new Set<string>();
  for (const [adapter, count] of Object.entries(note.functions)) {
    const fresh = (files.integer(`${deviceFolder(adapter)}/sriov_numvfs`) ?? 0) === 0;
    try {
      if (fresh) restored += await createFunctions(sysfs, adapter, count);
      const noted = note.guids?.[adapter];
      for (const fabric of fabricsAt(sysfs, adapter))
        await assignGuids({ sysfs, run }, fabric, { noted, fresh });
    } catch (error) {
      log.error({ adapter, reason: errorMessage(error) }, 'virtual functions could not be made again');
      for (const { functions } of fabricsAt(sysfs, adapter))
        for (const { device } of functions) nameless.add(device.address);
    }
  }
  for (const address of note.passthrough) {
    if (nameless.has(address) || files.linkName(`${deviceFolder(address)}/driver`) === VFIO) continue;
    try {
      await bindDriver(sysfs, address, VFIO);
      restored += 1;
    } catch (error) {
      log.error({ device: address, reason: errorMessage(error) }, 'a device could not be bound again');
    }
  }
  if (restored > 0) log.info({ restored }, 'functions and bindings of devices are in place again');
}

function fabricsAt({ files }: Sysfs, adapter: string): Fabric[] {
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  return readFabrics(files, pci).filter(({ pf }) => pf.address === adapter);
}
