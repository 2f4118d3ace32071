import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { CandidateSlot, TaskOutput } from '@gpuaas/contracts/tasks';
import type { SlotDevices } from '../slots/approval-rules.ts';

export type TopologyDifference = components['schemas']['TopologyDifference'];
type Discovery = TaskOutput['slice.topology_discover'];

export interface ApprovedSlot extends SlotDevices, Pick<CandidateSlot, (typeof BOUND_FIELDS)[number]> {
  id: string;
  isWholeNodeUnit?: boolean;
}

/** Fields of the candidate that an approval stores; slots have columns of the same names. */
export const BOUND_FIELDS = [
  'slot_index',
  'gpu_model',
  'fabric_vf_pci_address',
  'nvme_serial',
  'nvme_device',
  'management_mac',
  'private_ip',
  'ovs_port',
] as const satisfies readonly (keyof CandidateSlot)[];

/** Differences between a discovery and the approved slots; empty if the host is as approved. */
export function topologyDrift(slots: readonly ApprovedSlot[], discovery: Discovery): TopologyDifference[] {
  const seen = devicesSeen(discovery);
  const approvedGpus = new Set(slots.map((slot) => slot.gpu_pci_address));
  const isWhole = slots.some((slot) => slot.isWholeNodeUnit);
  return [
    ...slots.flatMap((slot) => slotDrift(slot, discovery, seen)),
    ...(isWhole ? [] : discovery.candidates)
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

/**
 * A device that is present but in no candidate is not missing: the inventory counts too, unless the device
 * does not answer.
 */
function devicesSeen({ candidates, inventory, left_out }: Discovery): DevicesSeen {
  const lost = new Set(left_out.flatMap(({ code, device }) => (code === 'gpu_lost' ? device : [])));
  return {
    gpus: new Set([
      ...candidates.map((candidate) => candidate.gpu_pci_address),
      ...(inventory?.gpus ?? []).map((gpu) => gpu.pci_address).filter((address) => !lost.has(address)),
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
  // Fabric, disks and addresses of a host that is offered as a whole are its own.
  if (slot.isWholeNodeUnit) return found;
  if (!seen.fabrics.has(slot.fabric_vf_pci_address)) {
    differs('fabric_vf_missing', slot.fabric_vf_pci_address, null);
  }
  if (!seen.disks.has(slot.nvme_serial)) differs('disk_missing', slot.nvme_serial, null);
  const disk = discovery.inventory?.disks.find(({ serial }) => serial === slot.nvme_serial);
  const withDisk = discovery.candidates.find((candidate) => candidate.nvme_serial === slot.nvme_serial);
  for (const mount of disk?.mounts ?? withDisk?.nvme_mounts ?? [])
    differs('disk_mounted', slot.nvme_serial, mount);
  const withGpu = discovery.candidates.find(
    (candidate) => candidate.gpu_pci_address === slot.gpu_pci_address,
  );
  if (withGpu) {
    for (const field of BOUND_FIELDS) {
      if (withGpu[field] !== slot[field]) {
        differs('binding_changed', `${field} ${slot[field]}`, `${field} ${withGpu[field]}`);
      }
    }
  } else if (seen.gpus.has(slot.gpu_pci_address)) {
    const why = discovery.left_out.find(({ device }) => device === slot.gpu_pci_address)?.reason;
    differs('gpu_left_out', slot.gpu_pci_address, why ?? null);
  }
  return found;
}
