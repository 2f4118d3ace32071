import type { Order, Outcome } from '@gpuaas/control-plane/domains/allocations/sell-together';
import { recordSales } from '@gpuaas/control-plane/domains/allocations/record-sales';
import { lockFreeSlots } from '@gpuaas/control-plane/domains/fleet/lock-free-slots';
import { placementCandidates } from '@gpuaas/control-plane/domains/fleet/placement-candidates';
import { place } from '@gpuaas/control-plane/domains/placement/place';
import { indexesOf } from '@gpuaas/control-plane/domains/placement/slot-mask';
import { requireQuota } from '@gpuaas/control-plane/domains/quotas/require-quota';
import { recordAudits } from '@gpuaas/control-plane/platform/audit/record';
import { inScope } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;
const SCOPE = { role: 'gpuaas_placement' } as const;

/** What stood here before: every launch reads the whole fleet, ranks it and commits alone. */
export function sellNaively(services: Scheduler, order: Order): Promise<Outcome> {
  return inScope(services.db, SCOPE, async (tx) => {
    await requireQuota(services.policies, tx, order.charge);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const nodes = await placementCandidates(services.policies, tx);
      const placement = place(order.request, nodes, order.offer.allowedGpuCounts);
      if (!placement.fits) return 'contested';
      const node = nodes.find(({ nodeId }) => nodeId === placement.node.nodeId)!;
      const slotIds = indexesOf(placement.slots).map((index) => node.slotIds[index]!);
      const wanted = [{ slotIds, request: order.request }];
      const [locked] = await lockFreeSlots(services.policies, tx, wanted, false);
      if (!locked) continue;
      const allocation = { ...order.allocation, node_id: node.nodeId, ends_at: null };
      const sale = { allocation, slotIds, gpuModel: order.offer.gpuModel };
      const { allocations } = await recordSales(services, tx, [sale]);
      await recordAudits(tx, [order.papers(allocations[0]!).audit]);
      return { sold: allocations[0]! };
    }
    return 'contested';
  });
}
