import type { Updateable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Allocations } from '../../../platform/db/generated/schema.ts';
import type { Services } from '../../../platform/services.ts';
import { resolveIncident } from '../../incidents/open-incident.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { atRest } from '../execution.ts';
import { liveClaims } from '../claims.ts';
import { lockAllocation, transitionAllocation, type AllocationRow } from '../transition-allocation.ts';

const GIVEN_BACK = 'Wiped, verified and given back';

/** The end of an allocation that was delivered once. */
export async function completeRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  how: { message?: string; change?: Updateable<Allocations> } = {},
): Promise<void> {
  const now = services.clock.now();
  const moved = await transitionAllocation(tx, allocationId, 'released', {
    observed_state: 'absent',
    ...atRest(),
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

/** Completes a failed release, or closes a failed launch, when an operator has settled the last slot. */
export async function completeAttestedRelease(
  services: Services,
  tx: Tx,
  allocationId: string,
  message?: string,
): Promise<void> {
  const allocation = await lockAllocation(tx, allocationId);
  if ((await liveClaims(tx, allocationId)) > 0) return;
  if (allocation.state === 'failed') return await emitCleanedUp(tx, allocation);
  if (allocation.state !== 'release_failed') return;
  await transitionAllocation(tx, allocationId, 'releasing');
  await completeRelease(services, tx, allocationId, message === undefined ? {} : { message });
}

/** The final event of a failed launch. */
export async function emitCleanedUp(tx: Tx, allocation: AllocationRow): Promise<void> {
  await emitAllocation(tx, 'allocation.progress', allocation, {
    stage: 'released',
    status: 'done',
    message: 'What the launch had taken is proven clean and given back',
    percent: 100,
  });
}
