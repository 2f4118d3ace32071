import { sql } from 'kysely';
import { first, present } from '../../../platform/present.ts';
import { isServerError } from '../../../platform/db/database.ts';
import { databaseAsRole } from '../../../platform/db/scope.ts';
import { publishBatchRetried } from '../../../platform/batcher.ts';
import type { Services } from '../../../platform/services.ts';
import type { SlotHold, WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import type { LaunchOrder } from './launch.ts';
import { reservedAllocation, reservedAllocationRow } from './record-launches.ts';
import { sellRequest } from './sell-request.ts';

/** Name of launch batches in metrics. */
export const LAUNCH_BATCH = 'launches';

type Scheduler = Pick<Services, 'db' | 'policies'> & WithFleetIndex;
type Placed = { order: LaunchOrder; hold: SlotHold };

/**
 * The path of nearly all launches: placed by the fleet index, and written by one statement that checks again everything
 * the decision used: funds, quotas, hosts, slots. Launches without room are left out of the result, as is a whole batch
 * that the statement refuses; they need the slow path.
 */
export async function reserveFast(
  services: Scheduler,
  orders: readonly LaunchOrder[],
): Promise<Map<LaunchOrder, AllocationRow>> {
  const fleet = services.fleetIndex;
  const placed = orders
    // Sealed user-data is written by a separate statement.
    .filter(({ userData }) => userData === null)
    .flatMap((order): Placed[] => {
      const { hold } = fleet.place(order.request, order.offer.allowedGpuCounts);
      return hold ? [{ order, hold }] : [];
    });
  if (placed.length === 0) return new Map();
  try {
    const { reserved, xid } = await write(services, placed, fleet.lookedAt);
    fleet.settle(
      placed.map(({ hold }) => hold),
      xid,
    );
    return reserved;
  } catch (error) {
    for (const { hold } of placed) fleet.giveBack(hold);
    if (!isServerError(error)) throw error;
    publishBatchRetried({ batch: LAUNCH_BATCH, size: placed.length });
    return new Map();
  }
}

async function write(
  { db, policies }: Scheduler,
  placed: readonly Placed[],
  at: Date,
): Promise<{ reserved: Map<LaunchOrder, AllocationRow>; xid: string }> {
  const orders = placed.map(({ order }) => order);
  const launches = placed.map(({ order, hold }) => reservedAllocation(order, hold));
  const reserved = new Map(
    orders.map(
      (order, index) =>
        [order, reservedAllocationRow(present(launches[index], 'launch').allocation, at)] as const,
    ),
  );
  const extras = Array.from(reserved).flatMap(([order, row]) => order.commitExtras?.(row) ?? []);
  const request = sellRequest(policies, orders, launches, extras, at);
  const { rows } = await sql<{ xid: string }>`select sell(${request}) as xid`.execute(
    databaseAsRole(db, 'gpuaas_placement'),
  );
  return { reserved, xid: first(rows, 'row of the statement').xid };
}
