import { reasonOf, type Logger } from '../../../log.ts';
import type { RunCommand } from '../commands.ts';
import { readFabrics, type Fabric } from '../fabrics.ts';
import { readPciDevices } from '../pci.ts';
import { bindDriver, VFIO } from './bind-driver.ts';
import { readNote } from './device-note.ts';
import { nameFunctions } from './function-guids.ts';
import { deviceFolder, type Sysfs } from './sysfs.ts';
import { makeFunctions } from './virtual-functions.ts';

export interface DeviceRestoration {
  sysfs: Sysfs;
  run: RunCommand;
  dir: string;
  log: Logger;
}

/**
 * After a boot: adapters make their functions again, which get their names in the fabric before devices go back to
 * vfio-pci. An adapter that has functions
 * keeps them, as machines may hold them. Trouble with one device is told and stops no other; machines that need it do
 * not start, and are reported as stopped.
 */
export async function restoreDevices({ sysfs, run, dir, log }: DeviceRestoration): Promise<void> {
  const note = await readNote(dir);
  if (!note) return;
  const { files } = sysfs;
  let restored = 0;
  const nameless = new Set<string>();
  for (const [adapter, count] of Object.entries(note.functions)) {
    const fresh = (files.integer(`${deviceFolder(adapter)}/sriov_numvfs`) ?? 0) === 0;
    try {
      if (fresh) restored += await makeFunctions(sysfs, adapter, count);
      const noted = note.guids?.[adapter];
      for (const fabric of fabricsAt(sysfs, adapter))
        await nameFunctions({ sysfs, run }, fabric, { noted, fresh });
    } catch (error) {
      log.error({ adapter, reason: reasonOf(error) }, 'virtual functions could not be made again');
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
      log.error({ device: address, reason: reasonOf(error) }, 'a device could not be bound again');
    }
  }
  if (restored > 0) log.info({ restored }, 'functions and bindings of devices are in place again');
}

function fabricsAt({ files }: Sysfs, adapter: string): Fabric[] {
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  return readFabrics(files, pci).filter(({ pf }) => pf.address === adapter);
}
