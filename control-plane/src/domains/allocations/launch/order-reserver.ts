import { present } from '../../../platform/present.ts';
import { databaseAsRole, inScope } from '../../../platform/db/scope.ts';
import { ExpiringSet } from '../../../platform/expiring-set.ts';
import type { Services } from '../../../platform/services.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { LaunchOrder, ReserveOutcome } from './launch.ts';
import { reserveBatch } from './reserve-batch.ts';
import { reserveFast } from './reserve-fast.ts';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'> & WithFleetIndex;

/** `failed`: its transaction was rolled back. */
export type LaunchDecision = ReserveOutcome | { kind: 'failed'; error: unknown };

/** How long launches of a refused project skip the fast path. */
const REFUSED_MS = 5_000;

/** Reserves prepared orders: on the fast path where it works, the rest in one transaction that decides each. */
export class OrderReserver {
  readonly #services: Scheduler;
  /**
   * Projects that were refused recently. Their next launch is likely to be refused again, and would fail the statement
   * that writes the whole batch on the fast path.
   */
  readonly #recentlyRefused = new ExpiringSet(REFUSED_MS);

  constructor(services: Scheduler) {
    this.#services = services;
  }

  /** For orders whose facts were not read just before: brings the fleet index up to date first. */
  async catchUpAndReserve(orders: readonly LaunchOrder[]): Promise<LaunchDecision[]> {
    const { db, fleetIndex } = this.#services;
    await fleetIndex.catchUp(databaseAsRole(db, 'gpuaas_placement'));
    return await this.reserveOrders(orders, {});
  }

  async reserveOrders(
    orders: readonly LaunchOrder[],
    patience: { lockTimeoutMs?: number },
  ): Promise<LaunchDecision[]> {
    const reserved = await reserveFast(
      this.#services,
      orders.filter(({ allocation }) => !this.#recentlyRefused.has(allocation.project_id)),
    );
    const left = orders.filter((order) => !reserved.has(order));
    const outcomes =
      left.length === 0
        ? []
        : await this.#reserveSlow(left, patience).catch((error: unknown): LaunchDecision[] => {
            if (reserved.size === 0) throw error;
            // The fast path has committed.
            return left.map(() => ({ kind: 'failed', error }));
          });
    let next = 0;
    return orders.map((order) => {
      const allocation = reserved.get(order);
      return allocation
        ? { kind: 'reserved', allocation }
        : present(outcomes[next++], 'outcome of the order');
    });
  }

  async #reserveSlow(
    orders: readonly LaunchOrder[],
    patience: { lockTimeoutMs?: number },
  ): Promise<ReserveOutcome[]> {
    const { db, fleetIndex } = this.#services;
    const { outcomes, holds, xid } = await inScope(db, { role: 'gpuaas_placement', ...patience }, (tx) =>
      reserveBatch(this.#services, tx, orders),
    );
    if (xid !== null) fleetIndex.settle(holds, xid);
    outcomes.forEach((outcome, index) => {
      if (isRefusedForQuotaOrFunds(outcome))
        this.#recentlyRefused.add(present(orders[index], 'order').allocation.project_id);
    });
    return outcomes;
  }
}

/** A launch without room is no such case: the fast path leaves it out anyway. */
function isRefusedForQuotaOrFunds(outcome: ReserveOutcome): boolean {
  if (outcome.kind === 'refused') return outcome.problem.code !== 'sku_unavailable';
  return outcome.kind === 'unfunded';
}
