import type { Tx } from '../../../platform/db/database.ts';
import { destroyAccessKey } from '../connection/access-key.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import type { ReleaseServices } from './release-hooks.ts';

/** Takes away every way into the machine; open streams are cut by the event of the release at both ends. */
export async function detachWorkloads(
  { releaseHooks }: Pick<ReleaseServices, 'releaseHooks'>,
  tx: Tx,
  allocation: AllocationRow,
): Promise<void> {
  for (const hook of releaseHooks) await hook.releasing(tx, allocation.id);
  await destroyAccessKey(tx, allocation.id);
  await emitAllocation(tx, 'allocation.progress', allocation, {
    stage: 'detach',
    status: 'done',
    message: 'Terminals and connections were closed',
    percent: 100,
  });
}
