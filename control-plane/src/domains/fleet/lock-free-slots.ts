import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { NodePromise, PlacementRequest } from '../placement/candidate.ts';
import { keepsPromises } from '../placement/filters/not-promised.ts';
import { readPromises, SERVES, storedPromises, type StoredPromise } from './placement-candidates.ts';

export interface WantedSlots {
  slotIds: string[];
  request: PlacementRequest;
}

interface LockedSlot extends SlotBundle {
  node_id: string;
  mode: string;
  region: string;
  gpu_model: string;
}

/**
 * Locks what each one wants, if all of it may still be sold, and returns it as the host needs it; null for those that
 * lost. Everything that placement checked in memory is checked again on the rows, which stay locked: slots against
 * every rival, nodes against a drain or a new mode. `wait` queues behind a rival instead of stepping aside.
 *
 * Locking re-reads a row that a rival has changed, but not the rows beside it: cordons and promises are therefore read
 * again by a statement of its own, and claims are written by later ones, which all see what this one waited for.
 */
export async function lockFreeSlots(
  policies: Policies,
  tx: Tx,
  wanted: readonly WantedSlots[],
  wait: boolean,
): Promise<(SlotBundle[] | null)[]> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const patience = wait ? sql`` : sql`skip locked`;
  // Claims are counted slot by slot, since `not exists` would be joined with every claim there is.
  const { rows } = await sql<LockedSlot>`
    select s.id as slot_id, s.slot_index, s.gpu_pci_address, s.fabric_vf_pci_address, s.nvme_serial, s.nvme_device,
      s.management_mac, s.private_ip, s.ovs_port, s.numa_node, s.gpu_model, s.node_id, n.mode, n.region
    from node_resource_slots s join nodes n on n.id = s.node_id
    where s.id = any(${wanted.flatMap(({ slotIds }) => slotIds)}::uuid[])
      and s.state = 'available' and s.health_state <> 'unhealthy'
      and s.gpu_pci_address <> '' and s.fabric_vf_pci_address <> '' and s.nvme_serial <> '' and s.nvme_device <> ''
      and s.management_mac <> '' and s.private_ip <> ''
      and s.capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
      and s.capacity_metadata ->> 'destructive_wipe_policy' <> ''
      and not n.draining and n.last_heartbeat_at > now() - make_interval(secs => ${silence})
      and (select count(*) from allocation_resource_claims c
        where c.node_id = s.node_id and c.released_at is null and (c.slot_id = s.id or c.slot_id is null)) = 0
    order by s.id
    for update of s ${patience} for key share of n ${patience}`.execute(tx);
  const locked = new Map(rows.map((row) => [row.slot_id, row]));
  const open = await promisesOfOpenNodes(tx, [...new Set(rows.map((row) => row.node_id))]);
  return wanted.map(({ slotIds, request }) => {
    const slots = slotIds.flatMap((slotId) => locked.get(slotId) ?? []);
    const sellable =
      slots.length === slotIds.length &&
      slots.every((slot) => suits(slot, request) && keeps(request, open.get(slot.node_id)));
    return sellable ? slots.map(bundleOf).toSorted((a, b) => a.slot_index - b.slot_index) : null;
  });
}

/** Of those of these nodes that are not cordoned, what is promised to whom; whoever changes either locks the node. */
async function promisesOfOpenNodes(tx: Tx, nodeIds: string[]): Promise<Map<string, NodePromise[]>> {
  if (nodeIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; promises: StoredPromise[] | null }>`
    select n.id, ${storedPromises} as promises from nodes n
    where n.id = any(${nodeIds}::uuid[]) and not exists (select from node_cordons c where c.node_id = n.id)`.execute(
    tx,
  );
  return new Map(rows.map(({ id, promises }) => [id, readPromises(promises)]));
}

function keeps(request: PlacementRequest, promises: NodePromise[] | undefined): boolean {
  return promises !== undefined && keepsPromises(request, promises);
}

function suits(slot: LockedSlot, request: PlacementRequest): boolean {
  const { shape, region, gpuModel } = request;
  return (
    (SERVES[slot.mode] ?? []).includes(shape) &&
    (region === null || slot.region === region) &&
    (gpuModel === null || slot.gpu_model === gpuModel)
  );
}

function bundleOf(slot: LockedSlot): SlotBundle {
  const { node_id: _node, mode: _mode, region: _region, gpu_model: _model, ...bundle } = slot;
  return bundle;
}
