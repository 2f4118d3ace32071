import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { TaskFailure } from '../../tasks/complete-task.ts';
import { executedBy, isExecutedBy } from '../execution.ts';
import { destroyAccessKey } from '../connection/access-key.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { lockAllocation, transitionAllocation } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { failureMessageFor } from '../../timeline/failure-messages.ts';
import { quarantineHeldSlots } from '../cleanup/quarantine-slots.ts';

/** Fails the launch and quarantines its slots immediately. False if the allocation had already ended. */
export async function failLaunch(
  services: Services,
  allocationId: string,
  failure: TaskFailure,
  workflowId: string,
): Promise<boolean> {
  return await services.db
    .transaction()
    .execute((tx) => failLaunchInTransaction(tx, allocationId, failure, workflowId));
}

export async function failLaunchInTransaction(
  tx: Tx,
  allocationId: string,
  failure: TaskFailure,
  workflowId: string,
): Promise<boolean> {
  const current = await lockAllocation(tx, allocationId);
  if (current.state === 'failed') return isExecutedBy(current, workflowId);
  if (current.state !== 'provisioning' && current.state !== 'reserved') return false;
  const moved = await transitionAllocation(tx, current, 'failed', {
    observed_state: 'unknown',
    ...executedBy(workflowId, 'cleaning_up'),
    failure: JSON.stringify({ code: failure.code, detail: failureMessageFor(failure.code) }),
  });
  if (!moved) return true;
  await destroyAccessKey(tx, allocationId);
  const to = shapeOf(moved).ownDataOnly ? 'cleaning' : 'cleanup_blocked';
  await quarantineHeldSlots(tx, moved, `Provisioning failed: ${failure.code}: ${failure.detail}`, to);
  await emitAllocation(tx, 'allocation.failed', moved, {
    stage: 'failed',
    status: 'failed',
    message: `Provisioning failed. ${failureMessageFor(failure.code)}`,
  });
  return true;
}
