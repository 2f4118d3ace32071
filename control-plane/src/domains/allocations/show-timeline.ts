import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { foldAllocation } from '../timeline/allocation-timeline.ts';
import { listTimeline, readEntries } from '../timeline/list-timeline.ts';
import { progressStages, type ProgressStage } from '../timeline/progress-stages.ts';
import type { AllocationRow } from './transition-allocation.ts';

type Timeline = {
  sections: components['schemas']['TimelineSection'][];
  items: components['schemas']['TimelineEntry'][];
  next_page: string | null;
};

/** Every step up to now, and one page of the events behind them. */
export async function showTimeline(
  tx: Tx,
  row: AllocationRow,
  query: { limit: number; page?: string },
): Promise<Timeline> {
  const page = await listTimeline(tx, row.id, query);
  return { sections: foldAllocation(await readEntries(tx, row.id), row), ...page };
}

/** The same steps in six coarse stages. */
export async function showProgress(tx: Tx, row: AllocationRow): Promise<ProgressStage[]> {
  return progressStages(foldAllocation(await readEntries(tx, row.id), row), row.created_at.toISOString());
}
