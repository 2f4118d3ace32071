import { join } from 'node:path';
import { ensureFolder, readJson, writeDurable } from '../../../durable-file.ts';
import { readFabrics } from '../fabrics.ts';
import { readPciDevices } from '../pci.ts';
import { VFIO } from './bind-driver.ts';
import type { Sysfs } from './sysfs.ts';

/** What a boot of the host takes away: functions of adapters, and devices in the hands of vfio-pci. */
export interface DeviceNote {
  /** Number of virtual functions by adapter. */
  functions: Record<string, number>;
  passthrough: string[];
}

const noteFile = (dir: string): string => join(dir, 'devices.json');

/** Remembers how devices are bound now, for the next boot. Only a change is written. */
export async function noteDevices({ sysfs, dir }: { sysfs: Sysfs; dir: string }): Promise<void> {
  const pci = new Map(readPciDevices(sysfs.files).map((device) => [device.address, device]));
  const note: DeviceNote = {
    functions: Object.fromEntries(
      readFabrics(sysfs.files, pci)
        .filter(({ pf }) => pf.virtualFunctions.length > 0)
        .map(({ pf }) => [pf.address, pf.virtualFunctions.length]),
    ),
    passthrough: [...pci.values()].filter(({ driver }) => driver === VFIO).map(({ address }) => address),
  };
  await ensureFolder(dir);
  if (JSON.stringify(await readNote(dir)) === JSON.stringify(note)) return;
  await writeDurable(noteFile(dir), `${JSON.stringify(note)}\n`);
}

export async function readNote(dir: string): Promise<DeviceNote | null> {
  return await readJson<DeviceNote>(noteFile(dir));
}
