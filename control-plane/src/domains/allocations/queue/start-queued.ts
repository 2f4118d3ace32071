import type { Tx } from '../../../platform/db/database.ts';
import { inScope, withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { times } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { requireFunds } from '../../billing/require-funds.ts';
import { requireQuota } from '../../quotas/require-quota.ts';
import { moveAllocation, type AllocationRow } from '../move-allocation.ts';
import { recordStarts } from '../record-sales.ts';
import { reserveSlots } from '../reserve-slots.ts';
import { leaseEnd } from '../launch-request.ts';
import { forgetQueued } from './leave-queue.ts';
import { requestOf, type QueuedLaunch } from './read-line.ts';

export type Outcome = { kind: 'started' | 'gone' } | { kind: 'refused'; reason: Reason; detail: string };

type Reason = 'capacity' | 'quota' | 'money';

/** Refusals that end: it waits on, and others pass. */
const REASONS: Record<string, Reason> = {
  sku_unavailable: 'capacity',
  quota_exceeded: 'quota',
  budget_exceeded: 'money',
  balance_too_low: 'money',
};

/** The launch decision for one whose turn has come: the same money, quota, placement and sale as for a new one. */
export async function startQueued(services: Services, launch: QueuedLaunch): Promise<Outcome> {
  const scope = { role: 'gpuaas_placement', organizationIds: [launch.organizationId] } as const;
  try {
    return await inScope(services.db, scope, (tx) => decide(services, tx, launch));
  } catch (error) {
    const reason = error instanceof Problem ? REASONS[error.code] : undefined;
    if (!reason) throw error;
    return { kind: 'refused', reason, detail: (error as Problem).message };
  }
}

async function decide(services: Services, tx: Tx, launch: QueuedLaunch): Promise<Outcome> {
  const row = await withRole(tx, 'gpuaas_worker', () => lockQueued(tx, launch.id));
  if (!row) return { kind: 'gone' };
  const perHour = times(launch.perGpuHour, launch.gpus);
  await withRole(tx, 'gpuaas_worker', () =>
    requireFunds(services, tx, {
      organizationId: launch.organizationId,
      projectId: launch.projectId,
      userId: row.owner_user_id,
      perHour,
    }),
  );
  await requireQuota(services.policies, tx, {
    organizationId: launch.organizationId,
    projectId: launch.projectId,
    launchedBy: launch.createdBy,
    gpuModel: launch.gpuModel,
    gpus: launch.gpus,
    perHour,
  });
  const wanted = requestOf(launch, services.clock.now());
  const { nodeId, slotIds } = await reserveSlots(services, tx, wanted, launch);
  const place = { node_id: nodeId, ends_at: leaseEnd(wanted) };
  await withRole(tx, 'gpuaas_worker', () =>
    moveAllocation(tx, launch.id, 'reserved', { ...place, execution_state: 'idle' }),
  );
  await recordStarts(services, tx, [
    { allocation: { ...row, ...place }, slotIds, gpuModel: launch.gpuModel },
  ]);
  await withRole(tx, 'gpuaas_worker', () => forgetQueued(tx, launch.id));
  return { kind: 'started' };
}

/** Null when it was cancelled, has expired or was started by somebody else. */
async function lockQueued(tx: Tx, allocationId: string): Promise<AllocationRow | null> {
  const row = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .where('state', '=', 'queued')
    .where('desired_state', '=', 'active')
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}
