import type { Clock } from '../../platform/clock.ts';
import type { WorkflowDefinition } from '../../platform/workflows/definition.ts';
import type { WithFleetIndex } from '../fleet/index/fleet-index.ts';
import type { FleetServices } from '../fleet/needs.ts';
import type { OverdueSource } from '../incidents/watch-deadlines.ts';
import { certificateRoutes } from './certificates/routes.ts';
import { signRemaining } from './certificates/sign-remaining.ts';
import { cleanupRoutes } from './cleanup/routes.ts';
import type { CleanupServices } from './cleanup/record-cleanup.ts';
import { cleanupWorkflow } from './cleanup/cleanup.workflow.ts';
import { detectIdleLeases } from './idle/detect-idle-leases.ts';
import { convergeIngress } from './ingress/converge-ingress.ts';
import { ingressRoutes } from './ingress/routes.ts';
import { provisionWorkflow } from './launch/provision.workflow.ts';
import { endLeases } from './leases/end-leases.ts';
import { warnBeforeLeaseEnd } from './leases/warn-before-lease-end.ts';
import { ownedAllocations } from './owned-allocations.ts';
import { queueConsumer, queueTick } from './queue/wake-queue.ts';
import { reconcileAllocations } from './reconcile/reconcile-allocations.ts';
import type { ReleaseServices } from './release/release-hooks.ts';
import { releaseWorkflow } from './release/release.workflow.ts';
import { pruneExpiredHolds } from './reservations/cancel-reservation.ts';
import { lapseReservations } from './reservations/lapse-reservations.ts';
import { ownedReservations } from './reservations/owned-reservations.ts';
import { reservationRoutes } from './reservations/routes.ts';
import { allocationRoutes } from './routes.ts';
import { overdueAllocations } from './overdue-allocations.ts';

type AllocationServices = FleetServices & ReleaseServices & CleanupServices & WithFleetIndex;

/** Enough to see what is wrong; the rest follows when these are dealt with. */
const OVERDUE_LIMIT = 100;

const stuckAllocations: OverdueSource = async (services, now) => {
  const found = await overdueAllocations(services, now, OVERDUE_LIMIT);
  return found.map(({ allocationId, state, since }) => ({
    targetType: 'allocation',
    targetId: allocationId,
    summary: `The allocation has been ${state} since ${since.toISOString()}.`,
    detail: { state },
  }));
};

const workflows: readonly WorkflowDefinition<AllocationServices, never>[] = [
  provisionWorkflow,
  releaseWorkflow,
  cleanupWorkflow,
];

export const allocationsModule = {
  routes: ({ services }: { services: AllocationServices }) => ({
    ...allocationRoutes(services),
    ...certificateRoutes(services),
    ...cleanupRoutes(services),
    ...ingressRoutes(services),
    ...reservationRoutes(services),
  }),
  ticks: () => [
    endLeases,
    warnBeforeLeaseEnd,
    detectIdleLeases,
    convergeIngress,
    pruneExpiredHolds,
    lapseReservations,
    queueTick,
    reconcileAllocations,
    signRemaining,
  ],
  workflows,
  consumers: ({ services }: { services: AllocationServices }) => [queueConsumer(services)],
  owners: ({ clock }: { clock: Clock }) => [ownedAllocations, ownedReservations(clock)],
  overdue: [stuckAllocations],
};
