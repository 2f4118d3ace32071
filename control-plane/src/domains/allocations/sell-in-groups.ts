import { inScope } from '../../platform/db/scope.ts';
import { GroupCommit } from '../../platform/group-commit.ts';
import type { Services } from '../../platform/services.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import { sellTogether, type Order, type Outcome } from './sell-together.ts';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;

const LIMITS = { size: 64, underWay: 2 };

/** The process's orders, each with the group that leaves next. */
export function salesDesk(services: Scheduler): GroupCommit<Order, Outcome> {
  return new GroupCommit((orders) => sellGroup(services, orders), LIMITS);
}

/** One transaction for all of them. */
export async function sellGroup(services: Scheduler, orders: readonly Order[]): Promise<Outcome[]> {
  const { outcomes, holds, xid } = await inScope(services.db, { role: 'gpuaas_placement' }, (tx) =>
    sellTogether(services, tx, orders),
  );
  if (xid !== null) fleetIndexOf(services).settle(holds, xid);
  return outcomes;
}
