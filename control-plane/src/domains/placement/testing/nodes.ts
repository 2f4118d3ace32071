import {
  candidateFromSlots,
  OPEN_ENDED,
  type Candidate,
  type Lease,
  type NodeFacts,
  type PlacementRequest,
} from '../candidate.ts';
import { toMask } from '../slot-mask.ts';
import type { SlotFacts } from '../slot-rules.ts';

/** A request that the node of `node()` can serve. */
export function request(change: Partial<PlacementRequest> = {}): PlacementRequest {
  return {
    shape: 'gpu_slice',
    gpus: 2,
    region: 'me-1',
    gpuModel: 'H200',
    now: 0,
    endsAt: OPEN_ENDED,
    ...change,
  };
}

export function slot(slotIndex: number, change: Partial<SlotFacts> = {}): SlotFacts {
  return {
    slotIndex,
    state: 'available',
    healthState: 'healthy',
    numaNode: slotIndex < 4 ? 0 : 1,
    pcieRoot: `root${slotIndex >> 1}`,
    gpuPciAddress: `0000:1${slotIndex}:00.0`,
    fabricVfPciAddress: `0000:2${slotIndex}:00.1`,
    fabricClaimMode: 'per_slot_vf',
    nvmeSerial: `S${slotIndex}`,
    nvmeDevice: `/dev/d${slotIndex}`,
    managementMac: `52:54:00:00:00:0${slotIndex}`,
    privateIp: `10.0.0.${slotIndex}`,
    destructiveWipePolicy: 'blkdiscard',
    ...change,
  };
}

interface NodeShape {
  size?: number;
  /** Leases on the node: slots and end. */
  leases?: { slots: number[]; endsAt?: number }[];
  slots?: Record<number, Partial<SlotFacts>>;
}

/** A clean 8-GPU node with two NUMA nodes, less its leases. */
export function node(nodeId: string, shape: NodeShape = {}, change: Partial<NodeFacts> = {}): Candidate {
  const leases: Lease[] = (shape.leases ?? []).map(({ slots, endsAt }) => ({
    slots: toMask(slots),
    endsAt: endsAt ?? OPEN_ENDED,
  }));
  const taken = leases.reduce((mask, lease) => mask | lease.slots, 0);
  const slots = Array.from({ length: shape.size ?? 8 }, (_, index) =>
    slot(index, { ...(taken & (1 << index) ? { state: 'in_use' } : {}), ...shape.slots?.[index] }),
  );
  const facts: NodeFacts = {
    nodeId,
    region: 'me-1',
    gpuModel: 'H200',
    serves: ['gpu_slice', 'baremetal'],
    connected: true,
    draining: false,
    cordoned: false,
    ...change,
  };
  return candidateFromSlots(facts, slots, leases);
}
