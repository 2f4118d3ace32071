import type { Tx } from '../../platform/db/database.ts';
import { emitAllocation } from './allocation-events.ts';
import { stageWords } from './tenant-words.ts';

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

/** How far the node is, in the allocation's timeline and in words for its tenant. */
export async function recordStageProgress(
  tx: Tx,
  allocationId: string,
  { stage, percent }: { stage: NodeStage; percent: number },
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
    { stage, percent, message: stageWords[stage], status: percent >= 100 ? 'done' : 'running' },
  );
}
