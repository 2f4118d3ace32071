import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { TaskError } from '../../tasks/task-error.ts';
import type { HostFiles } from './host-files.ts';
import type { HostDevices } from './inventory/inventory.ts';
import { otherDevicesInGroup, type PciDevice } from './inventory/pci.ts';

/** The approved GPUs and virtual functions are in the host, answer, and are bound to be given to a machine. */
export function checkDevices(files: HostFiles, devices: HostDevices, slots: readonly SlotBundle[]): void {
  const own = new Set(slots.flatMap((slot) => [slot.gpu_pci_address, slot.fabric_vf_pci_address]));
  for (const slot of slots) {
    checkBinding(files, gpuOf(devices, slot), devices, own);
    checkBinding(files, functionOf(devices, slot), devices, own);
  }
}

function gpuOf({ gpus }: HostDevices, slot: SlotBundle): PciDevice {
  const gpu = gpus.find(({ device }) => device.address === slot.gpu_pci_address);
  if (!gpu) throw new TaskError('plan_refused', `there is no GPU at ${slot.gpu_pci_address} in this host`);
  if (gpu.lost)
    throw new TaskError('gpu_lost', `the GPU at ${slot.gpu_pci_address} does not answer on the bus`);
  if (gpu.device.numaNode !== slot.numa_node) {
    const detail = `the GPU at ${slot.gpu_pci_address} is on NUMA ${gpu.device.numaNode}, not ${slot.numa_node}`;
    throw new TaskError('plan_refused', `${detail}; discover and approve again`);
  }
  return gpu.device;
}

function functionOf({ pci }: HostDevices, slot: SlotBundle): PciDevice {
  const address = slot.fabric_vf_pci_address;
  const device = pci.get(address);
  if (device?.physicalFunction) return device;
  throw new TaskError('plan_refused', `there is no virtual function at ${address} in this host`);
}

/** Devices in the same IOMMU group would enter the machine with the device. */
function checkBinding(files: HostFiles, device: PciDevice, { pci }: HostDevices, own: Set<string>): void {
  if (device.driver !== 'vfio-pci') {
    const driver = device.driver ?? 'no driver';
    throw new TaskError('device_not_bound', `${device.address} is bound to ${driver}, not to vfio-pci`);
  }
  if (device.iommuGroup === null) {
    throw new TaskError('device_not_bound', `${device.address} has no IOMMU group`);
  }
  const foreign = otherDevicesInGroup(files, device, pci).filter((address) => !own.has(address));
  if (foreign.length > 0) {
    const detail = `the IOMMU group of ${device.address} also holds ${foreign.join(', ')}`;
    throw new TaskError('device_not_bound', detail);
  }
}
