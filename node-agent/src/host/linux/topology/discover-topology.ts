import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import type { Topology } from '../../host.ts';
import { suggestAddresses } from '../../suggest-addresses.ts';
import type { RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import {
  bluefieldFunctions,
  readHostDevices,
  takeInventory,
  type HostDevices,
} from '../inventory/inventory.ts';
import { localityOf } from './locality.ts';
import { pairByLocality } from './pair-by-locality.ts';
import {
  selectUsableDisks,
  selectUsableFabrics,
  selectUsableGpus,
  type DiskPart,
  type FabricPart,
  type ExcludedDevice,
} from './select-usable-devices.ts';
import type { PciDevice } from '../inventory/pci.ts';

/** Reads the machine and proposes slots. Advisory: no slot can be leased before an operator approves it. */
export async function discoverTopology(
  files: HostFiles,
  run: RunCommand,
  hostname: string,
): Promise<Topology> {
  const devices = await readHostDevices(files, run);
  const gpus = selectUsableGpus(devices.gpus);
  const fabrics = selectUsableFabrics(devices.fabrics);
  const disks = selectUsableDisks(devices.disks);
  const fabricOf = pairByLocality(gpus.usable, fabrics.usable);
  const diskOf = pairByLocality(gpus.usable, disks.usable);
  const suggest = suggestAddresses(hostname);

  const candidates = gpus.usable.map((gpu): CandidateSlot => {
    const index = gpu.slotIndex;
    return {
      slot_index: index,
      ...describeGpu(gpu.device),
      ...describeFabric(gpu.device, fabricOf.get(gpu.address)),
      ...describeDisk(gpu.device, diskOf.get(gpu.address)),
      ...suggest(index),
    };
  });
  const leftOut = [
    ...gpus.leftOut,
    ...switches(devices),
    ...fabrics.leftOut,
    ...fabrics.spare(new Set(fabricOf.values())),
    ...disks.leftOut,
    ...disks.spare(new Set(diskOf.values())),
    ...bluefields(devices),
    ...(candidates.length === 0 ? [nothingToSell(hostname, devices)] : []),
  ];
  return {
    approval_required: true,
    candidates,
    left_out: leftOut.slice(0, 128),
    inventory: await takeInventory(files, run, devices),
  };
}

function describeGpu(gpu: PciDevice) {
  return {
    gpu_model: gpu.known?.model ?? gpu.id,
    gpu_pci_address: gpu.address,
    gpu_device_id: gpu.id,
    ...(gpu.serial === null ? {} : { gpu_serial: gpu.serial }),
    gpu_driver: gpu.driver,
    iommu_group: gpu.iommuGroup ?? 0,
    numa_node: gpu.numaNode,
    pcie_root: gpu.path[0] ?? 'unknown',
  };
}

function describeFabric(gpu: PciDevice, part: FabricPart | undefined) {
  return {
    fabric_vf_pci_address: part?.address ?? null,
    fabric_pf_pci_address: part?.fabric.pf.address ?? null,
    fabric_device: part?.fabric.rdmaDevice ?? null,
    fabric_link_layer: part?.fabric.linkLayer ?? null,
    fabric_locality: part ? localityOf(gpu, part) : null,
  };
}

function describeDisk(gpu: PciDevice, part: DiskPart | undefined) {
  return {
    nvme_serial: part?.disk.serial ?? null,
    nvme_device: part?.disk.device ?? null,
    nvme_pci_address: part?.disk.pciAddress ?? null,
    nvme_wwid: part?.disk.wwid ?? null,
    nvme_model: part?.disk.model ?? null,
    nvme_size_bytes: part?.disk.sizeBytes ?? null,
    nvme_mounts: part?.disk.use.mounts ?? [],
    nvme_filesystems: part?.disk.use.filesystems ?? [],
    nvme_locality: part ? localityOf(gpu, part) : null,
  };
}

function switches({ pci }: HostDevices): ExcludedDevice[] {
  return [...pci.values()]
    .filter((device) => device.known?.role === 'nvswitch')
    .map((device) => ({
      device: device.address,
      kind: 'nvswitch',
      code: 'nvswitch',
      reason: `${device.known?.model ?? 'NVSwitch'} ${device.id}: belongs to the host's fabric manager`,
    }));
}

function bluefields(devices: HostDevices): ExcludedDevice[] {
  return bluefieldFunctions(devices).map((device) => ({
    device: device.address,
    kind: 'bluefield',
    code: 'bluefield',
    reason: `${device.known?.model ?? 'BlueField'} ${device.id}: carries the management network of all slots`,
  }));
}

function nothingToSell(hostname: string, { gpus }: HostDevices): ExcludedDevice {
  const reason =
    gpus.length === 0
      ? 'no GPU was found on PCI'
      : `none of the ${gpus.length} display devices can be a slot`;
  return { device: hostname, kind: 'host', code: 'no_gpus', reason };
}
