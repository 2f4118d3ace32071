import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { CandidateSlot, TaskOutput } from '@gpuaas/contracts/tasks';
import type { SlotDevices } from './approval-rules.ts';

export type TopologyDifference = components['schemas']['TopologyDifference'];
type Discovery = TaskOutput['slice.topology_discover'];

export interface ApprovedSlot extends SlotDevices {
  id: string;
}

/** How a discovery differs from the approved slots; empty means the host is as it was approved. */
export function topologyDrift(slots: readonly ApprovedSlot[], discovery: Discovery): TopologyDifference[] {
  const seen = devicesSeen(discovery);
  const approvedGpus = new Set(slots.map((slot) => slot.gpu_pci_address));
  return [
    ...slots.flatMap((slot) => slotDrift(slot, discovery, seen)),
    ...discovery.candidates
      .filter((candidate) => !approvedGpus.has(candidate.gpu_pci_address))
      .map((candidate) => ({
        slot_index: candidate.slot_index,
        slot_id: null,
        kind: 'not_approved' as const,
        approved: null,
        observed: candidate.gpu_pci_address,
      })),
  ];
}

interface DevicesSeen {
  gpus: Set<string>;
  fabrics: Set<string | null>;
  disks: Set<string | null>;
}

/** A device that is there but in no candidate is not missing: the inventory counts too. */
function devicesSeen({ candidates, inventory }: Discovery): DevicesSeen {
  return {
    gpus: new Set([
      ...candidates.map((candidate) => candidate.gpu_pci_address),
      ...(inventory?.gpus ?? []).map((gpu) => gpu.pci_address),
    ]),
    fabrics: new Set([
      ...candidates.map((candidate) => candidate.fabric_vf_pci_address),
      ...(inventory?.fabrics ?? []).flatMap((fabric) => fabric.sriov_vfs),
    ]),
    disks: new Set([
      ...candidates.map((candidate) => candidate.nvme_serial),
      ...(inventory?.disks ?? []).map((disk) => disk.serial),
    ]),
  };
}

function slotDrift(slot: ApprovedSlot, discovery: Discovery, seen: DevicesSeen): TopologyDifference[] {
  const found: TopologyDifference[] = [];
  const differs = (
    kind: TopologyDifference['kind'],
    approved: string | null,
    observed: string | null,
  ): void => {
    found.push({ slot_index: slot.slot_index, slot_id: slot.id, kind, approved, observed });
  };
  if (!seen.gpus.has(slot.gpu_pci_address)) differs('gpu_missing', slot.gpu_pci_address, null);
  if (!seen.fabrics.has(slot.fabric_vf_pci_address)) {
    differs('fabric_vf_missing', slot.fabric_vf_pci_address, null);
  }
  if (!seen.disks.has(slot.nvme_serial)) differs('disk_missing', slot.nvme_serial, null);
  const withDisk = discovery.candidates.find((candidate) => candidate.nvme_serial === slot.nvme_serial);
  for (const mount of withDisk?.nvme_mounts ?? []) differs('disk_mounted', slot.nvme_serial, mount);
  const withGpu = discovery.candidates.find(
    (candidate) => candidate.gpu_pci_address === slot.gpu_pci_address,
  );
  if (withGpu) {
    for (const field of BOUND) {
      if (withGpu[field] !== slot[field]) {
        differs('binding_changed', `${field} ${slot[field]}`, `${field} ${withGpu[field]}`);
      }
    }
  }
  return found;
}

const BOUND = [
  'slot_index',
  'fabric_vf_pci_address',
  'nvme_serial',
  'management_mac',
  'private_ip',
] as const satisfies readonly (keyof CandidateSlot)[];
