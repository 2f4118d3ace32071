import type { Updateable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Allocations } from '../../platform/db/generated/schema.ts';
import type { Services } from '../../platform/services.ts';
import { resolveIncident } from '../incidents/open-incident.ts';
import { emitAllocation } from './allocation-events.ts';
import { liveClaims } from './claims.ts';
import { lockAllocation, moveAllocation, type AllocationRow } from './move-allocation.ts';

const GIVEN_BACK = 'Wiped, verified and given back';

/** The end of an allocation that was delivered once. */
export async function endRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  how: { message?: string; change?: Updateable<Allocations> } = {},
): Promise<void> {
  const now = services.clock.now();
  const moved = await moveAllocation(tx, allocationId, 'released', {
    observed_state: 'absent',
    execution_state: 'idle',
    released_at: now,
    connection: null,
    failure: null,
    host_silent_since: null,
    machine_trouble: null,
    ...how.change,
  });
  if (!moved) return;
  await emitAllocation(tx, 'allocation.released', moved, {
    stage: 'released',
    status: 'done',
    message: how.message ?? GIVEN_BACK,
    percent: 100,
  });
  const incident = { type: 'allocation_release_failed', targetId: allocationId } as const;
  await resolveIncident(tx, now, incident, 'The allocation was released.');
}

/** A release that had failed ends, and a launch that had failed is over, when an operator has settled the last it held. */
export async function endSettledRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  message?: string,
): Promise<void> {
  const allocation = await lockAllocation(tx, allocationId);
  if ((await liveClaims(tx, allocationId)) > 0) return;
  if (allocation.state === 'failed') return await tellCleaned(tx, allocation);
  if (allocation.state !== 'release_failed') return;
  await moveAllocation(tx, allocationId, 'releasing', { execution_state: 'releasing' });
  await endRelease(services, tx, allocationId, message === undefined ? {} : { message });
}

/** The last that is to be told of a failed launch. */
export async function tellCleaned(tx: Tx, allocation: AllocationRow): Promise<void> {
  await emitAllocation(tx, 'allocation.progress', allocation, {
    stage: 'released',
    status: 'done',
    message: 'What the launch had taken is proven clean and given back',
    percent: 100,
  });
}
