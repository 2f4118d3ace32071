import type { Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import {
  checkBatchFunds,
  lockBatchCommitments,
  type CommitmentsByAccount,
  type FundsShortfall,
} from '../../billing/funds/commitments.ts';
import type { SlotHold } from '../../fleet/index/fleet-index.ts';
import { checkQuotas } from '../../quotas/check-quotas.ts';
import type { LaunchOrder } from './launch.ts';

export interface PlacedOrder {
  order: LaunchOrder;
  hold: SlotHold;
}

/**
 * Locks funds, then counters: every transaction takes them in this order. A launch that has no node yet passes if the
 * funds cover it on any node.
 */
export async function checkFundsAndQuotas(policies: Policies, tx: Tx, orders: readonly LaunchOrder[]) {
  const commitments = await lockBatchCommitments(
    tx,
    orders.map(({ funds }) => funds),
  );
  const shortfalls = checkBatchFunds(
    commitments,
    orders.map(({ funds }) => ({ funds, nodeId: null })),
  );
  const exceeded = await checkQuotas(
    policies,
    tx,
    orders.map(({ charge }) => charge),
  );
  return { commitments, shortfalls, exceeded };
}

/** A launch beside the reserved nodes of its project does not use the funds that are held for them. */
export function checkPlacedFunds(
  commitments: CommitmentsByAccount,
  placed: readonly PlacedOrder[],
): (FundsShortfall | null)[] {
  return checkBatchFunds(
    commitments,
    placed.map(({ order, hold }) => ({ funds: order.funds, nodeId: hold.nodeId })),
  );
}
