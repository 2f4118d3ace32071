import type { LaunchOrder, ReserveOutcome } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import { recordReservedAllocations } from '@gpuaas/control-plane/domains/allocations/launch/record-launches';
import { lockFreeSlots } from '@gpuaas/control-plane/domains/fleet/slots/lock-free-slots';
import { placementCandidates } from '@gpuaas/control-plane/domains/fleet/index/placement-candidates';
import { place } from '@gpuaas/control-plane/domains/placement/place';
import { toIndexes } from '@gpuaas/control-plane/domains/placement/slot-mask';
import { checkQuotas } from '@gpuaas/control-plane/domains/quotas/check-quotas';
import { recordAudits } from '@gpuaas/control-plane/platform/audit/record';
import { inScope } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;
const SCOPE = { role: 'gpuaas_placement' } as const;

/** The former algorithm: every launch reads the whole fleet, ranks it and commits alone. */
export function sellNaively(services: Scheduler, order: LaunchOrder): Promise<ReserveOutcome> {
  return inScope(services.db, SCOPE, async (tx) => {
    await checkQuotas(services.policies, tx, [order.charge]);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const nodes = await placementCandidates(services.policies, tx);
      const placement = place(order.request, nodes, order.offer.allowedGpuCounts);
      if (!placement.fits) return { kind: 'contested' };
      const node = nodes.find(({ nodeId }) => nodeId === placement.node.nodeId)!;
      const slotIds = toIndexes(placement.slots).map((index) => node.slotIds[index]!);
      const wanted = [{ slotIds, request: order.request }];
      const [locked] = await lockFreeSlots(services.policies, tx, wanted, false);
      if (!locked) continue;
      const allocation = { ...order.allocation, node_id: node.nodeId, ends_at: null };
      const sale = { allocation, slotIds, gpuModel: order.offer.gpuModel, queuedRow: null };
      const { allocations } = await recordReservedAllocations(services, tx, [sale]);
      await recordAudits(tx, [order.commitExtras!(allocations[0]!).audit]);
      return { kind: 'reserved', allocation: allocations[0]! };
    }
    return { kind: 'contested' };
  });
}
