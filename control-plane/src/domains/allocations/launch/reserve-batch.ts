import { sql } from 'kysely';
import { present } from '../../../platform/present.ts';
import { recordAuditsSql } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { storeRepliesSql } from '../../../platform/http/idempotency.ts';
import type { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { balanceTooLow } from '../../billing/funds/require-funds.ts';
import type { SlotHold, WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import { quotaExceeded } from '../../quotas/quota-exceeded.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { storeUserData } from '../user-data/store-user-data.ts';
import { checkFundsAndQuotas, checkPlacedFunds, type PlacedOrder } from './check-orders.ts';
import type { LaunchOrder, ReserveOutcome } from './launch.ts';
import { recordReservedAllocations, reservedAllocation } from './record-launches.ts';
import { refuseUnplaced, reserveAllSlots, reserveSlots } from './reserve-slots.ts';

type Scheduler = Pick<Services, 'policies' | 'workflows'> & WithFleetIndex;

export interface ReservedBatch {
  outcomes: ReserveOutcome[];
  /** Reserved slots, to be settled in the fleet index after the commit. */
  holds: SlotHold[];
  /** Null when nothing was reserved. */
  xid: string | null;
}

/** `index`: the launch that was refused. */
export type AllReserved =
  | { kind: 'reserved'; allocations: AllocationRow[] }
  | { kind: 'refused'; index: number; problem: Problem };

/**
 * Decides many launches in one transaction, under the role `gpuaas_placement`: funds, quotas, slots, rows. Each has its
 * own outcome, without savepoints: nothing is written before all decisions are made. It does not wait for rivals.
 */
export async function reserveBatch(
  services: Scheduler,
  tx: Tx,
  orders: readonly LaunchOrder[],
): Promise<ReservedBatch> {
  const { commitments, shortfalls, exceeded } = await checkFundsAndQuotas(services.policies, tx, orders);
  const allowed = orders.filter(
    (_, index) => !shortfalls[index] && present(exceeded[index], 'quota check').length === 0,
  );
  const { won, rivals } = await reserveSlots(services, tx, allowed);
  const winners = allowed.flatMap((order, index) => {
    const hold = won[index];
    return hold ? [{ order, hold }] : [];
  });
  const uncovered = checkPlacedFunds(commitments, winners);
  const placed = winners.filter((_, index) => !uncovered[index]);
  const unfunded = new Map(
    winners.flatMap(({ order, hold }, index) => (uncovered[index] ? [[order, hold]] : [])),
  );
  // While rivals run, or a winner gives its slots back, it is not known yet whether there is capacity.
  const unplaced =
    rivals || unfunded.size > 0
      ? new Map<LaunchOrder, Problem>()
      : await refuseUnplaced(services, tx, allowed, won);
  for (const hold of unfunded.values()) services.fleetIndex.giveBack(hold);
  const { allocations, xid } = await write(services, tx, placed);
  const rows = new Map(placed.map(({ order }, index) => [order, present(allocations[index], 'allocation')]));
  const allWon = placed.length === allowed.length;
  const outcomes = orders.map((order, index): ReserveOutcome => {
    const allocation = rows.get(order);
    if (allocation) return { kind: 'reserved', allocation };
    const problem = unplaced.get(order);
    if (problem && order.whenUnavailable === 'fail') return { kind: 'refused', problem };
    if (shortfalls[index] || unfunded.has(order)) return { kind: 'unfunded' };
    // Quota counted for a launch of the batch that got nothing is no reason to refuse another.
    const excess = present(exceeded[index], 'quota check');
    return excess.length > 0 && allWon
      ? { kind: 'refused', problem: quotaExceeded(excess) }
      : { kind: 'contested' };
  });
  return { outcomes, holds: placed.map(({ hold }) => hold), xid };
}

/**
 * Decides launches that are reserved together or not at all, under the role `gpuaas_placement`. It waits for rivals, so
 * a refusal is final. Their facts must have been read under the lock of the funds.
 */
export async function reserveAll(
  services: Scheduler,
  tx: Tx,
  orders: readonly LaunchOrder[],
): Promise<AllReserved> {
  const { commitments, shortfalls, exceeded } = await checkFundsAndQuotas(services.policies, tx, orders);
  for (const index of orders.keys()) {
    const shortfall = shortfalls[index];
    if (shortfall) return { kind: 'refused', index, problem: balanceTooLow(services.policies, shortfall) };
    const excess = present(exceeded[index], 'quota check');
    if (excess.length > 0) return { kind: 'refused', index, problem: quotaExceeded(excess) };
  }
  const slots = await reserveAllSlots(services, tx, orders);
  if (slots.kind === 'refused') return slots;
  const placed = orders.map((order, index) => ({ order, hold: present(slots.holds[index], 'hold') }));
  const unfunded = checkPlacedFunds(commitments, placed);
  const index = unfunded.findIndex((shortfall) => shortfall !== null);
  if (unfunded[index]) {
    for (const { hold } of placed) services.fleetIndex.giveBack(hold);
    return { kind: 'refused', index, problem: balanceTooLow(services.policies, unfunded[index]) };
  }
  const { allocations } = await write(services, tx, placed);
  return { kind: 'reserved', allocations };
}

async function write(
  services: Scheduler,
  tx: Tx,
  placed: readonly PlacedOrder[],
): Promise<{ allocations: AllocationRow[]; xid: string | null }> {
  if (placed.length === 0) return { allocations: [], xid: null };
  const reserved = placed.map(({ order, hold }) => reservedAllocation(order, hold));
  const { allocations, xid } = await recordReservedAllocations(services, tx, reserved);
  await storeUserData(
    tx,
    placed.map(({ order }) => order),
  );
  const extras = placed.flatMap(
    ({ order }, index) => order.commitExtras?.(present(allocations[index], 'allocation')) ?? [],
  );
  if (extras.length > 0) {
    const replies = extras.flatMap(({ answer }) => answer ?? []);
    await sql`select ${recordAuditsSql(extras.map(({ audit }) => audit))}, ${storeRepliesSql(replies)}`.execute(
      tx,
    );
  }
  return { allocations, xid };
}
