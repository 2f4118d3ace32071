import { join } from 'node:path';
import { ensureFolder, readJson, writeDurable } from '../../../durable-file.ts';
import { readFabrics } from '../fabrics.ts';
import { readPciDevices } from '../pci.ts';
import { VFIO } from './bind-driver.ts';
import { isNamed, readGuids, type GuidHost } from './function-guids.ts';
import type { FunctionGuids } from './guid-tables.ts';

/** What a boot of the host takes away: functions of adapters, and devices in the hands of vfio-pci. */
export interface DeviceNote {
  /** Number of virtual functions by adapter. */
  functions: Record<string, number>;
  /** What they are called in an InfiniBand fabric, by adapter and in their order; older notes do not tell. */
  guids?: Record<string, FunctionGuids[]>;
  passthrough: string[];
}

const noteFile = (dir: string): string => join(dir, 'devices.json');

/** Remembers how devices are bound now, for the next boot. Only a change is written. */
export async function noteDevices({ dir, ...host }: GuidHost & { dir: string }): Promise<void> {
  const { files } = host.sysfs;
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  const fabrics = readFabrics(files, pci).filter(({ pf }) => pf.virtualFunctions.length > 0);
  const guids: Record<string, FunctionGuids[]> = {};
  for (const fabric of fabrics) {
    const named = (await readGuids(host, fabric)) ?? [];
    if (named.length > 0 && named.every(isNamed)) guids[fabric.pf.address] = named;
  }
  const note: DeviceNote = {
    functions: Object.fromEntries(fabrics.map(({ pf }) => [pf.address, pf.virtualFunctions.length])),
    guids,
    passthrough: [...pci.values()].filter(({ driver }) => driver === VFIO).map(({ address }) => address),
  };
  await ensureFolder(dir);
  if (JSON.stringify(await readNote(dir)) === JSON.stringify(note)) return;
  await writeDurable(noteFile(dir), `${JSON.stringify(note)}\n`);
}

export async function readNote(dir: string): Promise<DeviceNote | null> {
  return await readJson<DeviceNote>(noteFile(dir));
}
