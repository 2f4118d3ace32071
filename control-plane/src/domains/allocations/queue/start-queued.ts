import type { ProblemCode } from '@gpuaas/contracts/generated/problems.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { inScope, withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { multiplyMoney } from '../../../platform/money.ts';
import { requireFunds } from '../../billing/funds/require-funds.ts';
import type { LaunchOrder, LaunchServices } from '../launch/launch.ts';
import { reserveAll } from '../launch/reserve-batch.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { queuedPlacementRequest, type QueuedLaunch } from './load-launch-queues.ts';

export type StartOutcome =
  | { kind: 'started' }
  | { kind: 'gone' }
  | { kind: 'refused'; reason: Reason; detail: string };

type Reason = 'capacity' | 'quota' | 'money';

/** Refusals that may end: the launch stays in the queue and others pass it. */
const REASONS: { [code in ProblemCode]?: Reason } = {
  sku_unavailable: 'capacity',
  quota_exceeded: 'quota',
  budget_exceeded: 'money',
  balance_too_low: 'money',
};

/** Decides a queued launch whose turn has come, by the same rules as a new one. */
export async function startQueuedLaunch(
  services: LaunchServices,
  launch: QueuedLaunch,
): Promise<StartOutcome> {
  const scope = { role: 'gpuaas_placement', organizationIds: [launch.organizationId] } as const;
  try {
    return await inScope(services.db, scope, (tx) => decide(services, tx, launch));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const reason = REASONS[error.code];
    if (!reason) throw error;
    return { kind: 'refused', reason, detail: error.message };
  }
}

async function decide(services: LaunchServices, tx: Tx, launch: QueuedLaunch): Promise<StartOutcome> {
  const row = await withRole(tx, 'gpuaas_worker', () => lockQueued(tx, launch.id));
  if (!row) return { kind: 'gone' };
  const result = await reserveAll(services, tx, [await prepareQueued(services, tx, launch, row)]);
  if (result.kind === 'refused') throw result.problem;
  return { kind: 'started' };
}

/** Its price, product and machine were fixed when it entered the queue; budgets and funds are checked now. */
async function prepareQueued(
  services: LaunchServices,
  tx: Tx,
  launch: QueuedLaunch,
  row: AllocationRow,
): Promise<LaunchOrder> {
  const { organizationId, projectId, gpuModel, gpus } = launch;
  const perHour = multiplyMoney(launch.perGpuHour, gpus);
  const buyer = { organizationId, projectId, ownerUserId: row.owner_user_id };
  const funds = await withRole(tx, 'gpuaas_worker', () => requireFunds(services, tx, { ...buyer, perHour }));
  return {
    allocation: row,
    request: queuedPlacementRequest(launch, services.clock.now()),
    offer: launch,
    funds,
    charge: { ...buyer, launchedBy: launch.createdBy, gpuModel, gpus, perHour },
    whenUnavailable: 'queue',
    // Stored when it entered the queue.
    userData: null,
    queuedRow: row,
    commitExtras: null,
  };
}

/** Null when it was cancelled, has expired or was started by another process. */
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
