import { TaskError } from '../../../tasks/task-error.ts';
import type { Host, HostOperation } from '../../host.ts';
import type { RunCommand } from '../commands.ts';
import { processesWithOpenFile } from '../disks/open-files.ts';
import { readHostDevices, type HostDevices } from '../inventory/inventory.ts';
import { bindDriver, VFIO } from './bind-driver.ts';
import { companionsOf } from './companions.ts';
import { saveDeviceBindings, readDeviceBindings } from './device-bindings.ts';
import { assignGuids } from './function-guids.ts';
import type { Sysfs } from './sysfs.ts';
import { createFunctions, removeFunctions } from './virtual-functions.ts';

export interface ModeChange {
  sysfs: Sysfs;
  run: RunCommand;
  dir: string;
  root: string;
}

/** Device files that a program opens to compute on a GPU; the board's switches are not among them. */
const GPU_NODE = /^\/dev\/(nvidia\d+|dri\/renderD\d+|kfd)$/;

/**
 * Binds the host's devices for slices or for itself. Adapters come before their functions when functions are
 * created, and after them when functions are removed. Finished steps are skipped, so a repetition continues
 * where it stopped.
 */
export async function setMode(
  change: ModeChange,
  mode: Parameters<Host['setMode']>[0],
  step: HostOperation,
): Promise<string> {
  const { sysfs, run } = change;
  const devices = await readHostDevices(sysfs.files, run);
  const gpus = devices.gpus.filter(({ device }) => device.known?.role === 'gpu').map(({ device }) => device);
  if (gpus.length === 0) throw new TaskError('mode_refused', 'this host has no GPU that we know');
  await refuseWhileUsed(change, gpus);
  const functions =
    mode === 'slice'
      ? await offerFunctions(change, devices.fabrics, gpus.length, step)
      : await takeBackFunctions(change, devices);
  for (const [index, gpu] of gpus.entries()) {
    step.signal.throwIfAborted();
    step.percent(50 + (index * 50) / gpus.length, `Binding ${gpu.address}`);
    const driver = mode === 'slice' ? VFIO : (gpu.known?.driver ?? VFIO);
    await bindDriver(sysfs, gpu.address, driver);
    if (mode === 'slice') {
      // The rest of the IOMMU group must be unbound from the host as well.
      for (const address of companionsOf(sysfs.files, gpu, devices.pci))
        await bindDriver(sysfs, address, VFIO);
    }
  }
  await saveDeviceBindings(change);
  const driver = mode === 'slice' ? VFIO : [...new Set(gpus.map(({ known }) => known?.driver))].join(', ');
  return `${gpus.length} GPUs are bound to ${driver}; ${functions}`.slice(0, 500);
}

/** One function for each GPU, spread over the adapters. */
async function offerFunctions(
  { sysfs, run, dir }: ModeChange,
  fabrics: HostDevices['fabrics'],
  gpus: number,
  step: HostOperation,
): Promise<string> {
  const able = fabrics.filter(({ pf }) => pf.sriovTotal > 0);
  const each = able.length === 0 ? 0 : Math.ceil(gpus / able.length);
  const note = await readDeviceBindings(dir);
  let made = 0;
  for (const [index, fabric] of able.entries()) {
    const { pf } = fabric;
    step.signal.throwIfAborted();
    step.percent((index * 50) / able.length, `Making virtual functions of ${pf.address}`);
    if (pf.known?.driver) await bindDriver(sysfs, pf.address, pf.known.driver);
    const fresh = pf.virtualFunctions.length < each;
    made += await createFunctions(sysfs, pf.address, each);
    await assignGuids({ sysfs, run }, fabric, { noted: note?.guids?.[pf.address], fresh });
  }
  const { pci } = await readHostDevices(sysfs.files, run);
  const functions = able.flatMap(({ pf }) => pci.get(pf.address)?.virtualFunctions ?? []);
  for (const address of functions) await bindDriver(sysfs, address, VFIO);
  return `${made} virtual functions of ${able.length} adapters too`;
}

async function takeBackFunctions({ sysfs }: ModeChange, { fabrics }: HostDevices): Promise<string> {
  for (const { pf } of fabrics) {
    await removeFunctions(sysfs, pf.address);
    if (pf.known?.driver) await bindDriver(sysfs, pf.address, pf.known.driver);
  }
  return `${fabrics.length} adapters have no virtual function`;
}

/** Unbinding a GPU in use would block the driver, and with it the agent, until the user is done. */
async function refuseWhileUsed(
  { root, run }: ModeChange,
  gpus: readonly { driver: string | null }[],
): Promise<void> {
  if (gpus.every(({ driver }) => driver === VFIO || driver === null)) return;
  // It keeps GPUs open without using them, and restarts with the driver.
  await run('systemctl', ['stop', 'nvidia-persistenced.service']);
  const users = processesWithOpenFile(root, (path) => GPU_NODE.test(path));
  if (users.length > 0) {
    throw new TaskError('mode_refused', `GPUs are in use by ${users.slice(0, 5).join(', ')}`);
  }
}
