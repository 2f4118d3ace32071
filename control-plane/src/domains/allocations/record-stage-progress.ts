import type { Tx } from '../../platform/db/database.ts';
import { emitAll } from '../../platform/events/emit.ts';
import { allocationEvent } from './allocation-events.ts';
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

/** How far the node is, step by step, in the allocation's timeline and in words for its tenant. */
export async function recordStageProgress(
  tx: Tx,
  allocationId: string,
  steps: readonly { stage: NodeStage; percent: number }[],
  correlationId: string,
): Promise<void> {
  if (steps.length === 0) return;
  const allocation = await tx
    .selectFrom('allocations')
    .select(['id', 'organization_id', 'project_id', 'state'])
    .where('id', '=', allocationId)
    .executeTakeFirst();
  if (!allocation) return;
  const about = { ...allocation, correlation_id: correlationId };
  await emitAll(
    tx,
    steps.map(({ stage, percent }) =>
      allocationEvent('allocation.progress', about, {
        stage,
        percent,
        message: stageWords[stage],
        status: percent >= 100 ? 'done' : 'running',
      }),
    ),
  );
}
