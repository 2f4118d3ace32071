import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { candidate, OPEN_ENDED, type Lease } from '../../placement/candidate.ts';
import type { SlotMask } from '../../placement/slot-mask.ts';
import { snapshotColumns, excludeOwnTransaction, type SnapshotRow } from './snapshot.ts';
import type { FleetNode } from './placement-candidates.ts';
import { first } from '../../../platform/present.ts';

/**
 * States and leases of a changed node; `facts` if anything else changed, so that it must be read as a whole.
 */
export interface NodePlacementChange {
  nodeId: string;
  facts: boolean;
  available: SlotMask;
  unhealthy: SlotMask;
  leases: [slots: SlotMask, endsAt: number | null][] | null;
}

export interface PlacementChanges {
  nodes: NodePlacementChange[];
  /** Transactions that the snapshot includes; the next one starts there. */
  snapshot: string;
  at: Date;
}

/**
 * Changes that became visible since an earlier snapshot, without the `known` transactions, and always the
 * `suspects`.
 */
export async function readPlacementChanges(
  db: Db | Tx,
  since: string,
  known: readonly string[],
  suspects: readonly string[],
): Promise<PlacementChanges> {
  const { rows } = await sql<NodePlacementChange & SnapshotRow & { nodeId: string | null }>`
    select snapshot, ${snapshotColumns}, node_id as "nodeId", facts, available, unhealthy, leases
    from placement_news(${since}, ${known}::xid8[], ${suspects}::uuid[])`.execute(db);
  const { at } = first(rows, 'row of the statement');
  return {
    snapshot: excludeOwnTransaction(first(rows, 'row of the statement')),
    at,
    nodes: rows.filter(({ nodeId }) => nodeId !== null),
  };
}

/** The node with its states and leases of now. */
export function applyChanges(node: FleetNode, change: NodePlacementChange): FleetNode {
  const leases = (change.leases ?? []).map(([slots, endsAt]): Lease => ({
    // A claim on the whole node takes every cell, also those without a slot.
    slots: slots & node.layout.all,
    endsAt: endsAt ?? OPEN_ENDED,
  }));
  const claimed = leases.reduce((mask, lease) => mask | lease.slots, 0);
  return withSlots(node, leases, change.available & node.ofModel & ~claimed, ~change.unhealthy);
}

/** The node after a lease made by this process. */
export function withLease(node: FleetNode, lease: Lease): FleetNode {
  return withSlots(node, [...node.leases, lease], node.available & ~lease.slots, node.healthy);
}

function withSlots(
  node: FleetNode,
  leases: readonly Lease[],
  available: SlotMask,
  healthy: SlotMask,
): FleetNode {
  const { hostname, slotIds, ofModel, configured } = node;
  const slots = { available, configured, healthy: healthy & node.layout.all };
  return { ...candidate(node, node.layout, leases, slots), hostname, slotIds, ofModel };
}
