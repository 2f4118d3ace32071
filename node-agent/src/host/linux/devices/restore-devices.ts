import { reasonOf, type Logger } from '../../../log.ts';
import { bindDriver, VFIO } from './bind-driver.ts';
import { readNote } from './device-note.ts';
import { deviceFolder, type Sysfs } from './sysfs.ts';
import { makeFunctions } from './virtual-functions.ts';

export interface DeviceRestoration {
  sysfs: Sysfs;
  dir: string;
  log: Logger;
}

/**
 * After a boot: adapters make their functions again, then devices go back to vfio-pci. An adapter that has functions
 * keeps them, as machines may hold them. Trouble with one device is told and stops no other; machines that need it do
 * not start, and are reported as stopped.
 */
export async function restoreDevices({ sysfs, dir, log }: DeviceRestoration): Promise<void> {
  const note = await readNote(dir);
  if (!note) return;
  const { files } = sysfs;
  let restored = 0;
  for (const [adapter, count] of Object.entries(note.functions)) {
    if ((files.integer(`${deviceFolder(adapter)}/sriov_numvfs`) ?? 0) > 0) continue;
    try {
      restored += await makeFunctions(sysfs, adapter, count);
    } catch (error) {
      log.error({ adapter, reason: reasonOf(error) }, 'virtual functions could not be made again');
    }
  }
  for (const address of note.passthrough) {
    if (files.linkName(`${deviceFolder(address)}/driver`) === VFIO) continue;
    try {
      await bindDriver(sysfs, address, VFIO);
      restored += 1;
    } catch (error) {
      log.error({ device: address, reason: reasonOf(error) }, 'a device could not be bound again');
    }
  }
  if (restored > 0) log.info({ restored }, 'functions and bindings of devices are in place again');
}
