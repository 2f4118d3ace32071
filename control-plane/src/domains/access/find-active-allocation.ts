import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { findAllocation } from '../allocations/find-allocation.ts';
import type { AllocationRow } from '../allocations/transition-allocation.ts';

/** An allocation whose machine the caller may connect to now. */
export async function findActiveAllocation(
  tx: Tx,
  caller: Caller,
  allocationId: string,
): Promise<AllocationRow> {
  const allocation = await findAllocation(tx, caller, 'allocation.connect', allocationId);
  const { state } = allocation;
  if (state === 'active' && allocation.desired_state === 'active') return allocation;
  throw new Problem('allocation_not_active', `The allocation is ${state}; a connection needs it active.`, {
    extensions: { state },
  });
}
