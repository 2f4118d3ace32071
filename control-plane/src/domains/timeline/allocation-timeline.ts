import {
  allocationTimeline,
  type AllocationSection,
  type AllocationStage,
  type AllocationVariant,
} from '@gpuaas/contracts/generated/stages.ts';
import { foldTimeline, type Facts, type Section } from './fold-timeline.ts';
import type { Entry } from './step.ts';

export type AllocationSections = Section<AllocationStage, AllocationSection>[];

/** Columns of the allocation that its timeline depends on. */
export interface AllocationFacts {
  capacity_shape: string;
  root_granted_at: Date | null;
  active_at: Date | null;
  released_at: Date | null;
  failure: unknown;
}

/** Steps of an allocation, folded from its events in order. */
export function foldAllocation(
  entries: readonly Entry<AllocationStage>[],
  row: AllocationFacts,
): AllocationSections {
  return foldTimeline(allocationTimeline, entries, factsOf(row));
}

function factsOf(row: AllocationFacts): Facts<AllocationVariant, AllocationSection> {
  const reached = row.active_at ? 'release' : 'launch';
  return {
    variant: variantOf(row),
    completed: [
      ...(row.active_at ? (['launch'] as const) : []),
      // Without a machine there was nothing to release; the launch section shows the end.
      ...(row.active_at && row.released_at ? (['release'] as const) : []),
    ],
    abandoned: isForced(row.failure) ? reached : null,
  };
}

function variantOf({ capacity_shape, root_granted_at }: AllocationFacts): AllocationVariant {
  if (capacity_shape !== 'baremetal') return 'gpu_slice';
  return root_granted_at ? 'baremetal_root' : 'baremetal';
}

function isForced(failure: unknown): boolean {
  return (
    typeof failure === 'object' && failure !== null && 'code' in failure && failure.code === 'force_released'
  );
}
