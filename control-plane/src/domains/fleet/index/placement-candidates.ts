import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import {
  candidateFromSlots,
  OPEN_ENDED,
  type Candidate,
  type CapacityShape,
  type NodeHold,
} from '../../placement/candidate.ts';
import { toMask, type SlotMask } from '../../placement/slot-mask.ts';
import { isComplete, isWholeNodeUnit, type SlotFacts } from '../../placement/slot-rules.ts';
import { snapshotColumns, excludeOwnTransaction, type SnapshotRow } from './snapshot.ts';
import { first, present } from '../../../platform/present.ts';

export interface FleetNode extends Candidate {
  hostname: string;
  /** By slot index. */
  slotIds: Readonly<Record<number, string>>;
  /** Slots of the node's model, in any state; only these count as configured. */
  ofModel: SlotMask;
}

/** A snapshot of the fleet. */
export interface FleetSnapshot {
  nodes: FleetNode[];
  /** Transactions that it includes; a later snapshot can start there. */
  snapshot: string;
  at: Date;
}

interface CandidateRow {
  nodeId: string;
  hostname: string;
  region: string;
  mode: string | null;
  draining: boolean;
  cordoned: boolean;
  connected: boolean;
  gpuModel: string;
  slots: (SlotFacts & { slotId: string; gpuModel: string })[];
  leases: { slots: number[] | null; endsAt: number | null }[];
  promises: StoredHold[] | null;
}

/** Shapes that a node's mode supports. */
const SHAPES_BY_MODE: Record<string, readonly CapacityShape[]> = {
  slice: ['gpu_slice'],
  baremetal: ['baremetal'],
};

/** None before the node is promoted. */
export function shapesOf(mode: string | null): readonly CapacityShape[] {
  return mode === null ? [] : (SHAPES_BY_MODE[mode] ?? []);
}

/** The mode in which a node serves a shape. */
export function modeForShape(shape: string): string | undefined {
  return Object.keys(SHAPES_BY_MODE).find((mode) =>
    present(SHAPES_BY_MODE[mode], 'shapes').some((served) => served === shape),
  );
}

export interface StoredHold {
  holder: string;
  from: number;
  until: number | null;
}

/** The promises of the node `n`; null without any. */
export const selectHolds = sql`(
  select json_agg(json_build_object('holder', p.holder_id, 'from', extract(epoch from p.starts_at) * 1000,
    'until', extract(epoch from p.ends_at) * 1000) order by p.id)
  from node_promises p where p.node_id = n.id)`;

export function parseHolds(stored: readonly StoredHold[] | null): NodeHold[] {
  return (stored ?? []).map(({ until, ...promise }) => ({ ...promise, until: until ?? OPEN_ENDED }));
}

/** Every node as placement sees it now: its approved slots, and its leases with their ends. */
export async function placementCandidates(policies: Policies, db: Db | Tx): Promise<FleetNode[]> {
  return (await readFleetSnapshot(policies, db, null)).nodes;
}

/** Reads all nodes, or the given ones. */
export async function readFleetSnapshot(
  policies: Policies,
  db: Db | Tx,
  only: readonly string[] | null,
): Promise<FleetSnapshot> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const which = only ? sql`where n.id = any(${only}::uuid[])` : sql``;
  const { rows } = await sql<CandidateRow & SnapshotRow>`
    select seen.snapshot::text, ${snapshotColumns}, n.*
    from (select pg_current_snapshot() as snapshot) as seen left join lateral (
      select n.id as "nodeId", n.hostname, n.region, n.mode, n.draining,
        exists (select from node_cordons c where c.node_id = n.id) as cordoned,
        coalesce(n.last_heartbeat_at > now() - make_interval(secs => ${silence}), false) as connected,
        coalesce((select min(gpu_model) from node_resource_slots s where s.node_id = n.id), '') as "gpuModel",
        coalesce((
          select json_agg(json_build_object(
            'slotId', s.id, 'gpuModel', s.gpu_model, 'slotIndex', s.slot_index, 'state', s.state, 'healthState', s.health_state,
            'numaNode', s.numa_node, 'pcieRoot', s.pcie_root, 'gpuPciAddress', s.gpu_pci_address,
            'fabricVfPciAddress', s.fabric_vf_pci_address,
            'fabricClaimMode', s.capacity_metadata ->> 'fabric_claim_mode',
            'nvmeSerial', s.nvme_serial, 'nvmeDevice', s.nvme_device, 'managementMac', s.management_mac,
            'privateIp', s.private_ip, 'destructiveWipePolicy', s.capacity_metadata ->> 'destructive_wipe_policy'))
          from node_resource_slots s where s.node_id = n.id
        ), '[]') as slots,
        coalesce((
          select json_agg(json_build_object('slots', lease.slots, 'endsAt', lease.ends_at)) from (
            select extract(epoch from max(c.ends_at)) * 1000 as ends_at,
              nullif(array_agg(s.slot_index), array[null]::smallint[]) as slots
            from (select distinct e.claim_id as id from claim_cells e where e.node_id = n.id) as live
              join allocation_resource_claims c on c.id = live.id left join node_resource_slots s on s.id = c.slot_id
            group by c.allocation_id
          ) as lease
        ), '[]') as leases,
        ${selectHolds} as promises
      from nodes n ${which}
    ) as n on true`.execute(db);
  return {
    snapshot: excludeOwnTransaction(first(rows, 'row of the statement')),
    at: first(rows, 'row of the statement').at,
    nodes: rows.filter(({ nodeId }) => nodeId !== null).map(fleetNode),
  };
}

/** A host in baremetal mode is as large as its offer; units of an earlier offer are disabled and do not count. */
function unitsOf({ mode, slots }: CandidateRow): CandidateRow['slots'] {
  const offered = slots.filter((slot) => isWholeNodeUnit(slot) && slot.state !== 'disabled');
  return mode === 'baremetal' && offered.length > 0 ? offered : slots;
}

function fleetNode(row: CandidateRow): FleetNode {
  const { nodeId, region, gpuModel, connected, draining, cordoned, mode, leases, hostname } = row;
  const slots = unitsOf(row);
  const promises = parseHolds(row.promises);
  const held = leases.map((lease) => ({
    // A claim without slots is one on the whole node.
    slots: toMask(lease.slots ?? slots.map(({ slotIndex }) => slotIndex)),
    endsAt: lease.endsAt ?? OPEN_ENDED,
  }));
  const claimed = held.reduce((mask, lease) => mask | lease.slots, 0);
  // A row in state `available` with a claim, or of another model than its node, cannot be leased.
  const known = slots.map((slot) =>
    (claimed >> slot.slotIndex) & 1 || slot.gpuModel !== gpuModel ? { ...slot, state: 'withheld' } : slot,
  );
  const ofModel = slots.filter((slot) => slot.gpuModel === gpuModel);
  return {
    ...candidateFromSlots(
      {
        nodeId,
        region,
        gpuModel,
        connected,
        draining,
        cordoned,
        promises,
        serves: shapesOf(mode),
      },
      known,
      held,
    ),
    hostname,
    slotIds: Object.fromEntries(slots.map(({ slotIndex, slotId }) => [slotIndex, slotId])),
    ofModel: toMask(ofModel.map(({ slotIndex }) => slotIndex)),
    configured: toMask(ofModel.filter(isComplete).map(({ slotIndex }) => slotIndex)),
  };
}
