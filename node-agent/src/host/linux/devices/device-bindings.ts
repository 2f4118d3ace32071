import { join } from 'node:path';
import { ensureFolder, readJson, writeDurable } from '../../../durable-file.ts';
import { readFabrics } from '../inventory/fabrics.ts';
import { readPciDevices } from '../inventory/pci.ts';
import { VFIO } from './bind-driver.ts';
import { hasGuids, readGuids, type GuidHost } from './function-guids.ts';
import type { FunctionGuids } from './guid-tables.ts';

/** Bindings that a reboot of the host undoes: adapter functions, and devices bound to vfio-pci. */
export interface DeviceBindings {
  /** Number of virtual functions by adapter. */
  functions: Record<string, number>;
  /** GUIDs in an InfiniBand fabric, by adapter and in function order; older notes lack them. */
  guids?: Record<string, FunctionGuids[]>;
  passthrough: string[];
}

const noteFile = (dir: string): string => join(dir, 'devices.json');

/** Remembers how devices are bound now, for the next boot. Only a change is written. */
export async function saveDeviceBindings({ dir, ...host }: GuidHost & { dir: string }): Promise<void> {
  const { files } = host.sysfs;
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  const fabrics = readFabrics(files, pci).filter(({ pf }) => pf.virtualFunctions.length > 0);
  const guids: Record<string, FunctionGuids[]> = {};
  for (const fabric of fabrics) {
    const named = (await readGuids(host, fabric)) ?? [];
    if (named.length > 0 && named.every(hasGuids)) guids[fabric.pf.address] = named;
  }
  const note: DeviceBindings = {
    functions: Object.fromEntries(fabrics.map(({ pf }) => [pf.address, pf.virtualFunctions.length])),
    guids,
    passthrough: [...pci.values()].filter(({ driver }) => driver === VFIO).map(({ address }) => address),
  };
  await ensureFolder(dir);
  if (JSON.stringify(await readDeviceBindings(dir)) === JSON.stringify(note)) return;
  await writeDurable(noteFile(dir), `${JSON.stringify(note)}\n`);
}

export async function readDeviceBindings(dir: string): Promise<DeviceBindings | null> {
  return await readJson<DeviceBindings>(noteFile(dir));
}
