import { TaskError } from '../../../tasks/task-error.ts';
import { deviceFolder, writeSysfs, type Sysfs } from './sysfs.ts';

export const VFIO = 'vfio-pci';

/**
 * Gives a device to one driver and to no other. The override names it, so that neither a list of ids nor the order in
 * which drivers were loaded decides.
 */
export async function bindDriver(sysfs: Sysfs, address: string, driver: string): Promise<void> {
  const { files } = sysfs;
  const at = deviceFolder(address);
  if (!files.exists(at)) throw new TaskError('bind_failed', `there is no device ${address} in this host`);
  const before = files.linkName(`${at}/driver`);
  if (before === driver) return;
  // Modules are loaded at boot: a service that could load them could load anything.
  if (!files.exists(`/sys/bus/pci/drivers/${driver}`)) {
    throw new TaskError('bind_failed', `the driver ${driver} for ${address} is not loaded on this host`);
  }
  await writeSysfs(sysfs, 'bind_failed', `${at}/driver_override`, driver);
  if (before !== null)
    await writeSysfs(sysfs, 'bind_failed', `/sys/bus/pci/drivers/${before}/unbind`, address);
  await writeSysfs(sysfs, 'bind_failed', '/sys/bus/pci/drivers_probe', address);
  const now = files.linkName(`${at}/driver`);
  if (now !== driver) {
    throw new TaskError('bind_failed', `${address} is bound to ${now ?? 'no driver'}, not to ${driver}`);
  }
}
