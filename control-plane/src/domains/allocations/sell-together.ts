import { sql } from 'kysely';
import { auditing, type AuditEntry } from '../../platform/audit/record.ts';
import type { Tx } from '../../platform/db/database.ts';
import { keepingAnswers, type KeptAnswer } from '../../platform/http/idempotency.ts';
import type { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { checkFunds, type LaunchFunds } from '../billing/launches-on-their-way.ts';
import type { Product } from '../catalog/quote.ts';
import type { Hold } from '../fleet/fleet-index.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Charge } from '../quotas/counter.ts';
import { quotaExceeded } from '../quotas/quota-exceeded.ts';
import { checkQuotas } from '../quotas/require-quota.ts';
import { leaseEnd } from './launch-request.ts';
import type { AllocationRow } from './move-allocation.ts';
import { recordSales, type NewAllocation } from './record-sales.ts';
import { refuseUnserved, reserveTogether } from './reserve-slots.ts';
import { keepUserData } from './user-data/keep-user-data.ts';

/** A launch with everything known but where. */
export interface Launch {
  allocation: NewAllocation;
  request: PlacementRequest;
  offer: Pick<Product, 'allowedGpuCounts' | 'perGpuHour' | 'gpuModel'>;
  charge: Charge;
  funds: LaunchFunds;
  /** Waits in line if there is no room, so a group does not refuse it for that. */
  queues?: boolean;
  /** Sealed; null when the tenant gave none. */
  userData: Buffer | null;
}

/** A launch that commits with others, and what is written beside it. */
export interface Order extends Launch {
  papers(sold: AllocationRow): { audit: AuditEntry; answer: KeptAnswer | null };
}

/**
 * `contested`: others are in the way, and whether it can be served shows only when they have ended. `unfunded`: the money
 * does not cover it beside the others; what is kept for whom shows when it is decided alone.
 */
export type Outcome = { sold: AllocationRow } | { refused: Problem } | 'contested' | 'unfunded';

export interface Group {
  outcomes: Outcome[];
  /** What was sold, to be settled in the fleet's index once it has committed. */
  holds: Hold[];
  /** Null when nothing was. */
  xid: string | null;
}

/**
 * Sells to many in one transaction, under the role `gpuaas_placement`: money, quotas, ranking, locks, sales. Each has an
 * outcome of its own, without savepoints: nothing is written before all decisions stand.
 */
export async function sellTogether(
  services: Pick<Services, 'policies' | 'workflows'>,
  tx: Tx,
  orders: readonly Order[],
): Promise<Group> {
  const covered = await checkFunds(
    tx,
    orders.map(({ funds }) => funds),
  );
  const exceeded = await checkQuotas(
    services.policies,
    tx,
    orders.map(({ charge }) => charge),
  );
  const within = orders.filter((_, index) => covered[index] && exceeded[index]!.length === 0);
  const { won, rivals } = await reserveTogether(services, tx, within);
  // With rivals it shows only later whether there is room.
  const unserved = rivals ? new Map<Order, Problem>() : await refuseUnserved(services, tx, within, won);
  const sales = within.flatMap(({ allocation, offer, request }, index) => {
    const hold = won[index];
    if (!hold) return [];
    const placed = { ...allocation, node_id: hold.nodeId, ends_at: leaseEnd(request) };
    return [{ allocation: placed, slotIds: hold.slotIds, gpuModel: offer.gpuModel }];
  });
  const { allocations, xid } =
    sales.length > 0 ? await recordSales(services, tx, sales) : { allocations: [], xid: null };
  const sold = new Map(allocations.map((row) => [row.id, row]));
  await keepUserData(
    tx,
    within.filter(({ allocation }) => sold.has(allocation.id)),
  );
  await keepPapers(tx, orders, sold);
  const everybodyWon = sales.length === within.length;
  const outcomes = orders.map((order, index): Outcome => {
    const row = sold.get(order.allocation.id);
    if (row) return { sold: row };
    const refused = unserved.get(order);
    if (refused && !order.queues) return { refused };
    if (!covered[index]) return 'unfunded';
    // A quota counted for somebody in the group who got nothing is no reason to refuse.
    return exceeded[index]!.length > 0 && everybodyWon
      ? { refused: quotaExceeded(exceeded[index]!) }
      : 'contested';
  });
  return { outcomes, holds: won.filter((hold) => hold !== null), xid };
}

async function keepPapers(
  tx: Tx,
  orders: readonly Order[],
  sold: ReadonlyMap<string, AllocationRow>,
): Promise<void> {
  const papers = orders.flatMap((order) => {
    const row = sold.get(order.allocation.id);
    return row ? [order.papers(row)] : [];
  });
  if (papers.length === 0) return;
  const answers = papers.flatMap(({ answer }) => answer ?? []);
  await sql`select ${auditing(papers.map(({ audit }) => audit))}, ${keepingAnswers(answers)}`.execute(tx);
}
