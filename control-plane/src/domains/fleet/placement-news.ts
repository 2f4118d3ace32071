import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import { candidate, OPEN_ENDED, type Lease } from '../placement/candidate.ts';
import type { SlotMask } from '../placement/slot-mask.ts';
import { lookColumns, lookSnapshot, type LookSnapshotRow } from './look-snapshot.ts';
import type { FleetNode } from './placement-candidates.ts';

/** States and leases of a node that has changed; `facts` if anything else of it has, so that it must be read as a whole. */
export interface NodeNews {
  nodeId: string;
  facts: boolean;
  available: SlotMask;
  unhealthy: SlotMask;
  leases: [slots: SlotMask, endsAt: number | null][] | null;
}

export interface News {
  nodes: NodeNews[];
  /** Which transactions the look saw; the next begins there. */
  snapshot: string;
  at: Date;
}

/** What has become visible since an earlier look, but for the transactions that are `known`, and the `suspects` anyway. */
export async function readNews(
  db: Db | Tx,
  since: string,
  known: readonly string[],
  suspects: readonly string[],
): Promise<News> {
  const { rows } = await sql<NodeNews & LookSnapshotRow & { nodeId: string | null }>`
    select snapshot, ${lookColumns}, node_id as "nodeId", facts, available, unhealthy, leases
    from placement_news(${since}, ${known}::xid8[], ${suspects}::uuid[])`.execute(db);
  const { at } = rows[0]!;
  return { snapshot: lookSnapshot(rows[0]!), at, nodes: rows.filter(({ nodeId }) => nodeId !== null) };
}

/** The node with its states and leases of now. */
export function withNews(node: FleetNode, news: NodeNews): FleetNode {
  const leases = (news.leases ?? []).map(([slots, endsAt]): Lease => ({
    // A claim on the whole node takes every cell, also those without a slot.
    slots: slots & node.layout.all,
    endsAt: endsAt ?? OPEN_ENDED,
  }));
  const claimed = leases.reduce((mask, lease) => mask | lease.slots, 0);
  return withSlots(node, leases, news.available & node.ofModel & ~claimed, ~news.unhealthy);
}

/** The node after a sale that this process has made itself. */
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
