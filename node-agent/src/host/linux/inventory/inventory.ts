import { readBlockDevices } from './block-devices.ts';
import type { RunCommand } from '../commands.ts';
import { readDiskUse } from './disk-use.ts';
import { readFabrics, type Fabric } from './fabrics.ts';
import { readGpus, type Gpu } from './gpus.ts';
import type { HostFiles } from '../host-files.ts';
import { readDisks, type Disk } from './disks.ts';
import { readPciDevices, type PciDevice } from './pci.ts';
import { readHugepages, readMemoryKib, readProcessors } from './processors.ts';
import type { Topology } from '../../host.ts';

export type Inventory = NonNullable<Topology['inventory']>;

/** Everything discovery needs, read once. */
export interface HostDevices {
  pci: ReadonlyMap<string, PciDevice>;
  gpus: Gpu[];
  fabrics: Fabric[];
  disks: Disk[];
}

export async function readHostDevices(files: HostFiles, run: RunCommand): Promise<HostDevices> {
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  const blocks = readBlockDevices(files);
  const useOf = await readDiskUse(files, run, blocks);
  return {
    pci,
    gpus: readGpus(files, pci),
    fabrics: readFabrics(files, pci),
    disks: readDisks(files, blocks, pci, useOf),
  };
}

export async function takeInventory(
  files: HostFiles,
  run: RunCommand,
  devices: HostDevices,
): Promise<Inventory> {
  return {
    cpu: readProcessors(files),
    memory_kib: readMemoryKib(files),
    hugepages: readHugepages(files),
    gpus: devices.gpus.map(({ device, groupNeighbours }) => ({
      pci_address: device.address,
      device_id: device.id,
      model: device.known?.model ?? null,
      driver: device.driver,
      numa_node: device.numaNode,
      pcie_path: device.path,
      iommu_group: device.iommuGroup,
      iommu_group_others: groupNeighbours,
    })),
    fabrics: devices.fabrics.map(({ pf, rdmaDevice, linkLayer, linkState, rate }) => ({
      pci_address: pf.address,
      device_id: pf.id,
      model: pf.known?.model ?? null,
      driver: pf.driver,
      numa_node: pf.numaNode,
      rdma_device: rdmaDevice,
      link_layer: linkLayer,
      link_state: linkState,
      rate,
      sriov_total: pf.sriovTotal,
      sriov_vfs: pf.virtualFunctions,
    })),
    disks: devices.disks.map((disk) => ({
      pci_address: disk.pciAddress,
      serial: disk.serial,
      wwid: disk.wwid,
      model: disk.model,
      device: disk.device ?? `/dev/${disk.name}`,
      size_bytes: disk.sizeBytes,
      numa_node: disk.numaNode,
      boot: disk.use.bootReason !== null,
      mounts: disk.use.mounts,
      filesystems: disk.use.filesystems,
    })),
    bluefield: bluefieldFunctions(devices).map((device) => ({
      pci_address: device.address,
      device_id: device.id,
      role: device.known?.role === 'bluefield_dma' ? 'SoC management' : 'network function',
    })),
    ovs_bridges: await readOvsBridges(run),
  };
}

export function bluefieldFunctions({ pci }: HostDevices): PciDevice[] {
  return [...pci.values()].filter(
    ({ known }) => known?.role === 'bluefield' || known?.role === 'bluefield_dma',
  );
}

export async function readOvsBridges(run: RunCommand): Promise<string[]> {
  const result = await run('ovs-vsctl', ['--timeout=5', 'list-br']);
  if (result?.code !== 0) return [];
  return result.stdout.split('\n').filter((name) => name !== '');
}
