import {
  allocationTimeline,
  taskMessages,
  type AllocationStage,
  type TaskStage,
} from '@gpuaas/contracts/generated/stages.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emitAll } from '../../platform/events/emit.ts';
import { allocationEvent } from './allocation-events.ts';

/** Stages that a node reports about an allocation. */
type NodeStage = TaskStage & AllocationStage;

/** Records a node's progress in the allocation's timeline, in words for its tenant. */
export async function recordStageProgress(
  tx: Tx,
  {
    kind,
    subjectId: allocationId,
    correlationId,
  }: { kind: string; subjectId: string; correlationId: string },
  reported: readonly { stage: TaskStage; percent: number }[],
): Promise<void> {
  const steps = reported.filter(isOfAllocation);
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
        message: taskMessages[kind]?.[stage] ?? '',
        status: percent >= 100 ? 'done' : 'running',
      }),
    ),
  );
}

const stages: ReadonlySet<string> = new Set(
  allocationTimeline.sections
    .flatMap(({ variants }) => Object.values(variants).flat())
    .map(({ stage }) => stage),
);

function isOfAllocation<S extends { stage: TaskStage }>(step: S): step is S & { stage: NodeStage } {
  return stages.has(step.stage);
}
