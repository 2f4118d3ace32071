import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import { SERVES } from './placement-candidates.ts';

export interface WantedSlots {
  slotIds: string[];
  request: Pick<PlacementRequest, 'shape' | 'region' | 'gpuModel'>;
}

const modeServing = (shape: string): string =>
  Object.keys(SERVES).find((mode) => SERVES[mode]!.includes(shape as PlacementRequest['shape']))!;

/**
 * Locks what each one wants, if all of it may still be sold, and returns it as the host needs it; null for those that
 * lost. Everything that placement checked in memory is checked again on the rows, which stay locked: slots against
 * every rival, nodes against a drain or a new mode. `wait` queues behind a rival instead of stepping aside.
 *
 * Locking re-reads a row that a rival has changed, but not the rows joined to it: conditions therefore stand on the
 * locked rows themselves, and claims are written by later statements, which see what this one waited for.
 */
export async function lockFreeSlots(
  policies: Policies,
  tx: Tx,
  wanted: readonly WantedSlots[],
  wait: boolean,
): Promise<(SlotBundle[] | null)[]> {
  const silence = policies.get('fleet.unreachable_after_seconds');
  const asked = wanted.flatMap(({ slotIds, request }, order) =>
    slotIds.map((slotId) => ({ order, slotId, request })),
  );
  const patience = wait ? sql`` : sql`skip locked`;
  const { rows } = await sql<SlotBundle & { order: number }>`
    select w.ord as order, s.id as slot_id, s.slot_index, s.gpu_pci_address, s.fabric_vf_pci_address, s.nvme_serial,
      s.nvme_device, s.management_mac, s.private_ip, s.ovs_port, s.numa_node
    from unnest(${asked.map(({ order }) => order)}::integer[], ${asked.map(({ slotId }) => slotId)}::uuid[],
        ${asked.map(({ request }) => modeServing(request.shape))}::text[],
        ${asked.map(({ request }) => request.region)}::text[],
        ${asked.map(({ request }) => request.gpuModel)}::text[]) as w (ord, slot_id, mode, region, gpu_model)
      join node_resource_slots s on s.id = w.slot_id
      join nodes n on n.id = s.node_id
    where s.state = 'available' and s.health_state <> 'unhealthy'
      and s.gpu_pci_address <> '' and s.fabric_vf_pci_address <> '' and s.nvme_serial <> '' and s.nvme_device <> ''
      and s.management_mac <> '' and s.private_ip <> ''
      and s.capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
      and s.capacity_metadata ->> 'destructive_wipe_policy' <> ''
      and (w.gpu_model is null or s.gpu_model = w.gpu_model)
      and n.mode = w.mode and not n.draining and (w.region is null or n.region = w.region)
      and n.last_heartbeat_at > now() - make_interval(secs => ${silence})
      and not exists (select from node_cordons c where c.node_id = n.id)
      and not exists (select from allocation_resource_claims c
        where c.node_id = s.node_id and c.released_at is null and (c.slot_id = s.id or c.slot_id is null))
    order by s.id
    for update of s ${patience} for key share of n ${patience}`.execute(tx);
  const locked = Map.groupBy(rows, ({ order }) => order);
  return wanted.map(({ slotIds }, order) => {
    const bundles = locked.get(order) ?? [];
    if (bundles.length < slotIds.length) return null;
    return bundles
      .map(({ order: _order, ...bundle }) => bundle)
      .toSorted((a, b) => a.slot_index - b.slot_index);
  });
}
