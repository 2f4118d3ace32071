import { createHash } from 'node:crypto';
import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { suggestAddresses } from '../suggest-addresses.ts';

/** An HGX H200 board: eight GPUs over two sockets, a ConnectX-7 and a data NVMe beside each, two boot disks. */
export interface SimulatedHardware {
  slots: SimulatedSlot[];
  bootSerials: string[];
}

export type SimulatedSlot = Omit<
  CandidateSlot,
  'nvme_mounts' | 'fabric_vf_pci_address' | 'nvme_serial' | 'nvme_device'
> & {
  fabric_vf_pci_address: string;
  nvme_serial: string;
  nvme_device: string;
};

export const GPU_MODEL = 'H200-SXM-141GB';

const GPU_BUSES = ['1b', '43', '52', '61', '9d', 'c3', 'd1', 'df'] as const;
const FABRIC_BUSES = ['18', '40', '4f', '5e', '9a', 'c0', 'ce', 'dc'] as const;
const ROOTS = ['15', '37', '48', '59', '97', 'b7', 'c8', 'd9'] as const;

export function describeHardware(hostname: string): SimulatedHardware {
  const digest = createHash('sha256').update(hostname).digest();
  const suggest = suggestAddresses(hostname);
  const serialBase = digest.toString('hex', 8, 12).toUpperCase();
  return {
    slots: GPU_BUSES.map((bus, index) => ({
      slot_index: index,
      gpu_model: GPU_MODEL,
      gpu_pci_address: `0000:${bus}:00.0`,
      iommu_group: 20 + index * 10,
      // Function 1 is the first virtual function of the port.
      fabric_vf_pci_address: `0000:${FABRIC_BUSES[index]}:00.1`,
      nvme_serial: `S6CKN0T${serialBase}${index}`,
      nvme_device: `/dev/disk/by-id/nvme-SAMSUNG_MZQL23T8HCLS-00A07_S6CKN0T${serialBase}${index}`,
      ...suggest(index),
      numa_node: index < 4 ? 0 : 1,
      pcie_root: `pci0000:${ROOTS[index]}`,
    })),
    bootSerials: [0, 1].map((index) => `BTLA${serialBase}${index}`),
  };
}
