import type { Tx } from '../../platform/db/database.ts';
import { emitAllocation } from './allocation-events.ts';

export type NodeStage =
  | 'plan'
  | 'image'
  | 'seed'
  | 'vm'
  | 'network'
  | 'readiness'
  | 'user'
  | 'stop'
  | 'network_cleanup'
  | 'wipe'
  | 'verify';

/** What the node says of its work, in the allocation's timeline. */
export async function recordStageProgress(
  tx: Tx,
  allocationId: string,
  progress: { stage: NodeStage; percent: number; message: string },
  correlationId: string,
): Promise<void> {
  const allocation = await tx
    .selectFrom('allocations')
    .select(['id', 'organization_id', 'project_id', 'state'])
    .where('id', '=', allocationId)
    .executeTakeFirst();
  if (!allocation) return;
  await emitAllocation(
    tx,
    'allocation.progress',
    { ...allocation, correlation_id: correlationId },
    { ...progress, status: progress.percent >= 100 ? 'done' : 'running' },
  );
}
