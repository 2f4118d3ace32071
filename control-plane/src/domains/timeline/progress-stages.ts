import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import {
  allocationTimeline,
  type AllocationPhase,
  type AllocationStage,
} from '@gpuaas/contracts/generated/stages.ts';
import type { AllocationSections } from './allocation-timeline.ts';
import type { Step } from './step.ts';
import { present } from '../../platform/present.ts';

export type ProgressStage = components['schemas']['ProgressStage'];
type Status = ProgressStage['status'];

interface PhasedStep extends Step<AllocationStage> {
  section: string;
  phase: AllocationPhase | undefined;
}

/** The steps of an allocation in its six coarse stages; `acceptedAt` is when the platform accepted the launch. */
export function progressStages(sections: AllocationSections, acceptedAt: string): ProgressStage[] {
  const steps = phased(sections);
  const found = allocationTimeline.phases.map((phase) => steps.filter((step) => step.phase === phase));
  const hasFailed = (index: number): boolean =>
    present(found[index], 'steps of the phase').some(({ state }) => state === 'failed');
  return allocationTimeline.phases.map((stage, index): ProgressStage => {
    const own = present(found[index], 'steps of the phase');
    const begun = own.filter(({ started_at }) => started_at !== null);
    const next = found.slice(index + 1).flatMap((later) => later.filter(({ started_at }) => started_at))[0];
    const isAcceptance = index === 0 && begun.length === 0;
    const isStillToCome =
      found.slice(0, index).some((_, earlier) => hasFailed(earlier)) ||
      found.slice(index).every((later) => later.length === 0);
    const status = isAcceptance ? (next ? 'done' : 'running') : statusOf(own, isStillToCome);
    const failure = own.findLast(({ state }) => state === 'failed');
    return {
      stage,
      status,
      percent: status === 'done' ? 100 : status === 'waiting' || status === 'skipped' ? 0 : percentOf(own),
      started_at: begun[0]?.started_at ?? (isAcceptance ? acceptedAt : null),
      ended_at: failure ? failure.ended_at : status === 'done' ? endOf(begun, next) : null,
      message: (failure ?? begun.at(-1))?.detail ?? (isAcceptance ? 'Accepted' : ''),
    };
  });
}

function phased(sections: AllocationSections): PhasedStep[] {
  return sections.flatMap(({ section, steps }) => {
    const known = present(
      allocationTimeline.sections.find((one) => one.section === section),
      `section ${section}`,
    );
    const words = Object.values(known.variants).flat();
    return steps.map((step) => ({
      ...step,
      section,
      phase: words.find(({ stage }) => stage === step.stage)?.phase,
    }));
  });
}

/** A stage that has not started, or never will because an earlier one failed, is not skipped. */
function statusOf(steps: readonly PhasedStep[], isStillToCome: boolean): Status {
  const states = new Set(steps.map(({ state }) => state));
  if (states.has('failed')) return 'failed';
  if (states.has('active')) return 'running';
  if (states.has('done')) return states.has('waiting') ? 'running' : 'done';
  return states.has('waiting') || isStillToCome ? 'waiting' : 'skipped';
}

/** A stage lasts until the next one starts; after the last one of a launch comes the lease, which is no stage. */
function endOf(begun: readonly PhasedStep[], next: PhasedStep | undefined): string | null {
  const last = begun.at(-1);
  return next && (!last || next.section === last.section) ? next.started_at : (last?.ended_at ?? null);
}

/** All steps have the same weight. */
function percentOf(steps: readonly PhasedStep[]): number {
  const shares = steps.map(({ state, percent }) =>
    state === 'active' ? (percent ?? 0) : state === 'waiting' ? 0 : 100,
  );
  const sum = shares.reduce((total, share) => total + share, 0);
  return Math.min(99, Math.floor(sum / Math.max(1, shares.length)));
}
