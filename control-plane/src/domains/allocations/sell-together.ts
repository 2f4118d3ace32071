import type { AuditEntry } from '../../platform/audit/record.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import type { Product } from '../catalog/quote.ts';
import type { Hold } from '../fleet/fleet-index.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Charge } from '../quotas/counter.ts';
import { quotaExceeded } from '../quotas/quota-exceeded.ts';
import { checkQuotas } from '../quotas/require-quota.ts';
import { leaseEnd } from './launch-request.ts';
import type { AllocationRow } from './move-allocation.ts';
import { recordSales, type NewAllocation } from './record-sales.ts';
import { reserveTogether } from './reserve-slots.ts';

/** A launch with everything known but where. */
export interface Order {
  allocation: NewAllocation;
  request: PlacementRequest;
  offer: Pick<Product, 'allowedGpuCounts' | 'perGpuHour' | 'gpuModel'>;
  charge: Charge;
  /** What the audit log says of it once it has a place. */
  audit(nodeId: string): AuditEntry;
}

/** `contested`: others are in the way, and whether it can be served shows only when they have ended. */
export type Outcome = { sold: AllocationRow } | { refused: Problem } | 'contested';

export interface Group {
  outcomes: Outcome[];
  /** What was sold, to be settled in the fleet's index once it has committed. */
  holds: Hold[];
  /** Null when nothing was. */
  xid: string | null;
}

/**
 * Sells to many in one transaction, under the role `gpuaas_placement`: quotas, ranking, locks, sales. Each has an
 * outcome of its own, without savepoints: nothing is written before all decisions stand.
 */
export async function sellTogether(
  services: Pick<Services, 'policies' | 'workflows'>,
  tx: Tx,
  orders: readonly Order[],
): Promise<Group> {
  const exceeded = await checkQuotas(
    services.policies,
    tx,
    orders.map(({ charge }) => charge),
  );
  const within = orders.filter((_, index) => exceeded[index]!.length === 0);
  const { won } = await reserveTogether(services, tx, within);
  const sales = within.flatMap(({ allocation, offer, request, audit }, index) => {
    const hold = won[index];
    if (!hold) return [];
    const placed = { ...allocation, node_id: hold.nodeId, ends_at: leaseEnd(request) };
    return [
      { allocation: placed, slotIds: hold.slotIds, gpuModel: offer.gpuModel, audit: audit(hold.nodeId) },
    ];
  });
  const audits = sales.map(({ audit }) => audit);
  const { allocations, xid } =
    sales.length > 0 ? await recordSales(services, tx, sales, audits) : { allocations: [], xid: null };
  const sold = new Map(allocations.map((row) => [row.id, row]));
  const everybodyWon = sales.length === within.length;
  const outcomes = orders.map(({ allocation }, index): Outcome => {
    const row = sold.get(allocation.id);
    if (row) return { sold: row };
    // A quota counted for somebody in the group who got nothing is no reason to refuse.
    return exceeded[index]!.length > 0 && everybodyWon
      ? { refused: quotaExceeded(exceeded[index]!) }
      : 'contested';
  });
  return { outcomes, holds: won.filter((hold) => hold !== null), xid };
}
