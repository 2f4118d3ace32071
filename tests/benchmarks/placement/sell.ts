import {
  sellTogether,
  type Order,
  type Outcome,
} from '@gpuaas/control-plane/domains/allocations/sell-together';
import { recordSales } from '@gpuaas/control-plane/domains/allocations/record-sales';
import { lockFreeSlots } from '@gpuaas/control-plane/domains/fleet/lock-free-slots';
import { placementCandidates } from '@gpuaas/control-plane/domains/fleet/placement-candidates';
import { place } from '@gpuaas/control-plane/domains/placement/place';
import { indexesOf } from '@gpuaas/control-plane/domains/placement/slot-mask';
import { requireQuota } from '@gpuaas/control-plane/domains/quotas/require-quota';
import { recordAudits, type AuditEntry } from '@gpuaas/control-plane/platform/audit/record';
import type { Db, Tx } from '@gpuaas/control-plane/platform/db/database';
import { inScope, withRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { tenant } from './fleet.ts';

type Scheduler = Pick<Services, 'policies' | 'workflows'>;
const SCOPE = { role: 'gpuaas_placement', organizationIds: [tenant.organizationId] } as const;

/** One transaction for all of them: quotas, ranking, locks, claims, slots, allocations, events, workflows, audit. */
export function sellGroup(services: Scheduler, db: Db, orders: Order[]): Promise<Outcome[]> {
  return inScope(db, SCOPE, async (tx) => {
    const outcomes = await sellTogether(services, tx, orders);
    const sold = outcomes.flatMap((outcome) =>
      outcome !== 'contested' && 'sold' in outcome ? [outcome.sold.id] : [],
    );
    if (sold.length > 0) {
      await audited(tx, sold);
    }
    return outcomes;
  });
}

/** What stood here before: every launch reads the whole fleet, ranks it and commits alone. */
export function sellNaively(services: Scheduler, db: Db, order: Order): Promise<Outcome> {
  return inScope(db, SCOPE, async (tx) => {
    await requireQuota(services.policies, tx, order.charge);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const nodes = await placementCandidates(services.policies, tx);
      const placement = place(order.request, nodes, order.offer.allowedGpuCounts);
      if (!placement.fits) return 'contested';
      const node = nodes.find(({ nodeId }) => nodeId === placement.node.nodeId)!;
      const slotIds = indexesOf(placement.slots).map((index) => node.slotIds[index]!);
      const [slots] = await lockFreeSlots(
        services.policies,
        tx,
        [{ slotIds, request: order.request }],
        false,
      );
      if (!slots) continue;
      const allocation = { ...order.allocation, node_id: node.nodeId };
      const [sold] = await recordSales(services, tx, [{ allocation, slots, gpuModel: order.offer.gpuModel }]);
      await audited(tx, [sold!.id]);
      return { sold: sold! };
    }
    return 'contested';
  });
}

/** By the role of the request, as for any mutation. */
function audited(tx: Tx, allocationIds: string[]): Promise<void> {
  return withRole(tx, 'gpuaas_tenant', () =>
    recordAudits(
      tx,
      allocationIds.map((id) => auditOf(id, 'allocation.create')),
    ),
  );
}

export function auditOf(allocationId: string, action: string): AuditEntry {
  return {
    actorUserId: tenant.userId,
    actorRole: 'tenant_member',
    action,
    targetType: 'allocation',
    targetId: allocationId,
    organizationId: tenant.organizationId,
    result: 'succeeded',
    correlationId: allocationId,
    detail: { sku: 'h200-sxm-slice' },
  };
}
