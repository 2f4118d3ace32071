import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { TaskFailure } from '../fleet/complete-task.ts';
import { destroyAccessKey } from './access-key.ts';
import { emitAllocation } from './allocation-events.ts';
import { lockAllocation, moveAllocation } from './move-allocation.ts';
import { failureWords } from './tenant-words.ts';
import { quarantineHeld } from './quarantine-held.ts';

/** The launch has failed; what it held is quarantined at once. False when the allocation had ended otherwise. */
export async function failLaunch(
  services: Services,
  allocationId: string,
  failure: TaskFailure,
): Promise<boolean> {
  return await services.db.transaction().execute((tx) => failLaunchIn(tx, allocationId, failure));
}

export async function failLaunchIn(tx: Tx, allocationId: string, failure: TaskFailure): Promise<boolean> {
  const current = await lockAllocation(tx, allocationId);
  if (current.state === 'failed') return current.execution_state === 'cleaning up';
  if (current.state !== 'provisioning' && current.state !== 'reserved') return false;
  const moved = await moveAllocation(tx, current, 'failed', {
    observed_state: 'unknown',
    execution_state: 'cleaning up',
    failure: JSON.stringify({ code: failure.code, detail: failureWords(failure.code) }),
  });
  if (!moved) return true;
  await destroyAccessKey(tx, allocationId);
  await quarantineHeld(tx, moved, `Provisioning failed: ${failure.code}`);
  await emitAllocation(tx, 'allocation.failed', moved, {
    stage: 'failed',
    status: 'failed',
    message: `Provisioning failed. ${failureWords(failure.code)}`,
  });
  return true;
}
