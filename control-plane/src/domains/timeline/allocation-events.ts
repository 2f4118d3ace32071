import type { EventPayloads, EventType } from '@gpuaas/contracts/events';
import type { AllocationStage } from '@gpuaas/contracts/generated/stages.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit, type NewEvent } from '../../platform/events/emit.ts';

/** Timeline entry of an allocation's event. */
export interface TimelineEvent {
  stage: AllocationStage;
  status: 'running' | 'done' | 'failed';
  message: string;
  percent?: number | null;
  cause?: ReleaseCause;
}

/** Why the platform ends a lease. */
export type ReleaseCause = NonNullable<EventPayloads['allocation.release_requested']['cause']>;

export interface AllocationRef {
  id: string;
  organization_id: string;
  project_id: string;
  state: EventPayloads[AllocationEvent]['state'];
  correlation_id: string;
}

type AllocationEvent = Extract<EventType, `allocation.${string}`>;

/** Emits an event that is also one entry of the tenant's timeline. */
export async function emitAllocation(
  tx: Tx,
  type: AllocationEvent,
  allocation: AllocationRef,
  step: TimelineEvent,
): Promise<void> {
  await emit(tx, allocationEvent(type, allocation, step));
}

export function allocationEvent(
  type: AllocationEvent,
  allocation: AllocationRef,
  step: TimelineEvent,
): NewEvent {
  return {
    type,
    subjectId: allocation.id,
    organizationId: allocation.organization_id,
    correlationId: allocation.correlation_id,
    payload: {
      allocation_id: allocation.id,
      organization_id: allocation.organization_id,
      project_id: allocation.project_id,
      state: allocation.state,
      stage: step.stage,
      status: step.status,
      message: step.message.slice(0, 500),
      percent: step.percent ?? null,
      ...(step.cause ? { cause: step.cause } : {}),
    },
  };
}
