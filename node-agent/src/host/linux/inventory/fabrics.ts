import type { HostFiles } from '../host-files.ts';
import { otherDevicesInGroup, type PciDevice } from './pci.ts';

/** An InfiniBand or RoCE adapter port with its SR-IOV functions. */
export interface Fabric {
  pf: PciDevice;
  rdmaDevice: string | null;
  /** The adapter's own, which no other in the world has. */
  nodeGuid: string | null;
  linkLayer: string | null;
  linkState: string | null;
  rate: string | null;
  functions: FabricFunction[];
}

export interface FabricFunction {
  device: PciDevice;
  /** Why it cannot be given to a VM; null when it can. */
  unusable: { code: 'fabric_vf_in_use' | 'iommu_group_shared' | 'iommu_off'; reason: string } | null;
}

const RDMA = '/sys/class/infiniband';

export function readFabrics(files: HostFiles, pci: ReadonlyMap<string, PciDevice>): Fabric[] {
  const rdmaOf = new Map(files.list(RDMA).map((name) => [files.linkName(`${RDMA}/${name}/device`), name]));
  const adapters = [...pci.values()].filter(
    (device) => device.known?.role === 'fabric' && device.physicalFunction === null,
  );
  return adapters.map((pf) => {
    const rdmaDevice = rdmaOf.get(pf.address) ?? null;
    const port = `${RDMA}/${rdmaDevice}/ports/1`;
    return {
      pf,
      rdmaDevice,
      nodeGuid: rdmaDevice && files.text(`${RDMA}/${rdmaDevice}/node_guid`),
      linkLayer: rdmaDevice && files.text(`${port}/link_layer`),
      // "4: ACTIVE"
      linkState: rdmaDevice && (files.text(`${port}/state`)?.split(': ').at(-1) ?? null),
      rate: rdmaDevice && files.text(`${port}/rate`),
      functions: pf.virtualFunctions.flatMap((address) => {
        const device = pci.get(address);
        return device ? [{ device, unusable: whyUnusable(files, device, pci) }] : [];
      }),
    };
  });
}

function whyUnusable(
  files: HostFiles,
  vf: PciDevice,
  pci: ReadonlyMap<string, PciDevice>,
): FabricFunction['unusable'] {
  if (vf.iommuGroup === null) return { code: 'iommu_off', reason: 'it has no IOMMU group' };
  const groupNeighbours = otherDevicesInGroup(files, vf, pci);
  if (groupNeighbours.length > 0) {
    const reason = `its IOMMU group ${vf.iommuGroup} also holds ${groupNeighbours.join(', ')}`;
    return { code: 'iommu_group_shared', reason };
  }
  const net = `/sys/bus/pci/devices/${vf.address}/net`;
  const enslaved = files.list(net).find((name) => files.exists(`${net}/${name}/master`));
  if (!enslaved) return null;
  const master = files.linkName(`${net}/${enslaved}/master`);
  return { code: 'fabric_vf_in_use', reason: `its interface ${enslaved} is part of ${master}` };
}
