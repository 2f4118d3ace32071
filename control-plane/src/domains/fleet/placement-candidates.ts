import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import {
  candidateFromSlots,
  OPEN_ENDED,
  type Candidate,
  type CapacityShape,
} from '../placement/candidate.ts';
import { maskOf } from '../placement/slot-mask.ts';
import type { SlotFacts } from '../placement/slot-rules.ts';

export interface FleetNode extends Candidate {
  hostname: string;
  /** By slot index. */
  slotIds: Readonly<Record<number, string>>;
}

interface CandidateRow {
  nodeId: string;
  hostname: string;
  region: string;
  mode: string;
  draining: boolean;
  cordoned: boolean;
  connected: boolean;
  gpuModel: string;
  slots: (SlotFacts & { slotId: string })[];
  leases: { slots: number[] | null; endsAt: number | null }[];
}

const serves: Record<string, readonly CapacityShape[]> = { slice: ['gpu_slice'], baremetal: ['baremetal'] };

/** Every node as placement sees it now: its approved slots, and its leases with their ends. */
export async function placementCandidates(policies: Policies, db: Db | Tx): Promise<FleetNode[]> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const { rows } = await sql<CandidateRow>`
    with lease as (
      select c.node_id, extract(epoch from max(c.ends_at)) * 1000 as ends_at, array_agg(s.slot_index) as slots
      from allocation_resource_claims c left join node_resource_slots s on s.id = c.slot_id
      where c.released_at is null
      group by c.node_id, c.allocation_id
    )
    select n.id as "nodeId", n.hostname, n.region, n.mode, n.draining,
      exists (select from node_cordons c where c.node_id = n.id) as cordoned,
      coalesce(n.last_heartbeat_at > now() - make_interval(secs => ${silence}), false) as connected,
      coalesce((select min(gpu_model) from node_resource_slots s where s.node_id = n.id), '') as "gpuModel",
      coalesce((
        select json_agg(json_build_object(
          'slotId', s.id, 'slotIndex', s.slot_index, 'state', s.state, 'healthState', s.health_state,
          'numaNode', s.numa_node, 'pcieRoot', s.pcie_root, 'gpuPciAddress', s.gpu_pci_address,
          'fabricVfPciAddress', s.fabric_vf_pci_address,
          'fabricClaimMode', s.capacity_metadata ->> 'fabric_claim_mode',
          'nvmeSerial', s.nvme_serial, 'nvmeDevice', s.nvme_device, 'managementMac', s.management_mac,
          'privateIp', s.private_ip, 'destructiveWipePolicy', s.capacity_metadata ->> 'destructive_wipe_policy'))
        from node_resource_slots s where s.node_id = n.id
      ), '[]') as slots,
      coalesce((
        select json_agg(json_build_object('slots', nullif(l.slots, array[null]::smallint[]), 'endsAt', l.ends_at))
        from lease l where l.node_id = n.id
      ), '[]') as leases
    from nodes n`.execute(db);
  return rows.map(fleetNode);
}

function fleetNode({ mode, slots, leases, ...facts }: CandidateRow): FleetNode {
  const every = slots.map(({ slotIndex }) => slotIndex);
  return {
    ...candidateFromSlots(
      { ...facts, serves: serves[mode] ?? [] },
      slots,
      // A claim without slots is one on the whole node.
      leases.map((lease) => ({ slots: maskOf(lease.slots ?? every), endsAt: lease.endsAt ?? OPEN_ENDED })),
    ),
    hostname: facts.hostname,
    slotIds: Object.fromEntries(slots.map(({ slotIndex, slotId }) => [slotIndex, slotId])),
  };
}

/**
 * Locks the slots if all of them are still for sale and their node still takes leases; `wait` queues behind a rival
 * instead of giving up.
 */
export async function lockFreeSlots(tx: Tx, slotIds: string[], wait: boolean): Promise<boolean> {
  const query = tx
    .selectFrom('node_resource_slots as s')
    .innerJoin('nodes as n', 'n.id', 's.node_id')
    .select('s.id')
    .where('s.id', 'in', slotIds)
    .where('s.state', '=', 'available')
    .where('n.draining', '=', false)
    .where((e) =>
      e.not(
        e.exists(e.selectFrom('node_cordons as c').select('c.node_id').whereRef('c.node_id', '=', 'n.id')),
      ),
    )
    .orderBy('s.id')
    .forUpdate('s');
  const rows = await (wait ? query : query.skipLocked()).execute();
  return rows.length === slotIds.length;
}
