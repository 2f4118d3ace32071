import { isServerError } from '../../platform/db/database.ts';
import { inScope } from '../../platform/db/scope.ts';
import { GroupCommit } from '../../platform/group-commit.ts';
import type { Services } from '../../platform/services.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { AllocationRow } from './move-allocation.ts';
import { sellTogether, type Order, type Outcome } from './sell-together.ts';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;

export const GROUPS = { size: 64, underWay: 2 };
/** One project whose counters somebody holds must not keep everybody waiting: a group gives up, and each goes alone. */
const LOCK_TIMEOUT_MS = 250;

/** The process's orders, each with the group that leaves next. */
export function salesDesk(services: Scheduler): GroupCommit<Order, Outcome> {
  return new GroupCommit((orders) => sellGroup(services, orders, { lockTimeoutMs: LOCK_TIMEOUT_MS }), GROUPS);
}

/** One transaction for all of them. */
export async function sellGroup(
  services: Scheduler,
  orders: readonly Order[],
  patience: { lockTimeoutMs?: number } = {},
): Promise<Outcome[]> {
  const scope = { role: 'gpuaas_placement', ...patience } as const;
  const { outcomes, holds, xid } = await inScope(services.db, scope, (tx) =>
    sellTogether(services, tx, orders),
  );
  if (xid !== null) fleetIndexOf(services).settle(holds, xid);
  return outcomes;
}

/**
 * Sells with the next group; null if the launch must be decided alone. A group that the database has refused is rolled
 * back as a whole: whom it concerned shows when each is tried again by itself.
 */
export async function sellWithOthers(
  desk: GroupCommit<Order, Outcome>,
  order: Order,
): Promise<AllocationRow | null> {
  const outcome = await desk.submit(order).catch((error: unknown) => {
    if (isServerError(error)) return 'contested' as const;
    throw error;
  });
  if (outcome === 'contested') return null;
  if ('refused' in outcome) throw outcome.refused;
  return outcome.sold;
}
