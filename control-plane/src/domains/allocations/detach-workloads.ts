import type { Tx } from '../../platform/db/database.ts';
import { revokeTerminalTokens } from './revoke-terminal-tokens.ts';
import { destroyAccessKey } from './access-key.ts';
import { emitAllocation } from './allocation-events.ts';
import type { AllocationRow } from './move-allocation.ts';

/** Something that uses an allocation and must let go of it before its machine is stopped. */
type Detach = (tx: Tx, allocationId: string) => Promise<void>;

const detachments: readonly Detach[] = [revokeTerminalTokens, destroyAccessKey];

/** Takes away every way into the machine; open streams are cut by the event of the release at both ends. */
export async function detachWorkloads(tx: Tx, allocation: AllocationRow): Promise<void> {
  for (const detach of detachments) await detach(tx, allocation.id);
  await emitAllocation(tx, 'allocation.progress', allocation, {
    stage: 'detach',
    status: 'done',
    message: 'Terminals and connections were closed',
    percent: 100,
  });
}
