import type { Tx } from '../../platform/db/database.ts';
import { listTimeline } from './list-timeline.ts';
import type { AllocationRow } from './move-allocation.ts';
import { progressStages, type ProgressStage } from './progress-stages.ts';

/** More events than any allocation has on its way; a host tells of each stage a few dozen times at most. */
const EVERY_EVENT = 2000;

export async function showProgress(tx: Tx, row: AllocationRow): Promise<ProgressStage[]> {
  const { items } = await listTimeline(tx, row.id, { limit: EVERY_EVENT });
  return progressStages(items, row.created_at.toISOString());
}
