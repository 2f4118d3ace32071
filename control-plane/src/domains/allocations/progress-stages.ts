import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Stage } from './allocation-events.ts';

export type ProgressStage = components['schemas']['ProgressStage'];
type Entry = Pick<
  components['schemas']['TimelineEntry'],
  'stage' | 'status' | 'percent' | 'occurred_at' | 'message'
>;

/** The timeline's steps in each of the six stages. News of a host during the lease (`host`) belongs to none of them. */
const steps: Record<ProgressStage['stage'], readonly Stage[]> = {
  onboarding: ['queue'],
  placement: ['placement'],
  image_clone: ['plan', 'image', 'seed'],
  vm_boot: ['vm', 'network'],
  ssh_readiness: ['readiness', 'user', 'active'],
  cleanup: ['release', 'detach', 'stop', 'network_cleanup', 'wipe', 'verify', 'released'],
};

/** A stage is over when its last step is, or when a later one has begun. */
const lastStep: Partial<Record<Stage, true>> = {
  placement: true,
  seed: true,
  network: true,
  active: true,
  released: true,
};

/** Stages of a launch and its end, from its events in order; `acceptedAt` is when the platform took it on. */
export function progressStages(entries: readonly Entry[], acceptedAt: string): ProgressStage[] {
  const order = Object.keys(steps) as ProgressStage['stage'][];
  const found = order.map((stage) => entries.filter((entry) => steps[stage].includes(entry.stage)));
  const current = latestOf(entries);
  const failure = failureOf(entries);
  return order.map((stage, index): ProgressStage => {
    const own = found[index]!;
    const last = own.at(-1);
    const startedAt = own[0]?.occurred_at ?? (index === 0 ? acceptedAt : null);
    const passed = index < current;
    if (startedAt === null) {
      // Not every launch needs each stage; but what comes after its failure was never reached.
      const skipped = passed && !(failure && index > failure.stage);
      return {
        stage,
        status: skipped ? 'done' : 'waiting',
        percent: skipped ? 100 : 0,
        started_at: null,
        ended_at: null,
        message: '',
      };
    }
    // What is told again, as of an extension, is news and no second end.
    const end =
      last && lastStep[last.stage]
        ? own.find((e) => e.stage === last.stage && e.status === 'done')
        : undefined;
    const broken = failure?.stage === index ? failure.entry : null;
    const over = !broken && (passed || end !== undefined);
    const next = found.slice(index + 1).find((later) => later.length > 0)?.[0]?.occurred_at;
    return {
      stage,
      status: broken ? 'failed' : over ? 'done' : 'running',
      percent: over ? 100 : percentOf(stage, last),
      started_at: startedAt,
      ended_at: broken ? broken.occurred_at : over ? endOf(end, passed ? next! : null) : null,
      message: broken ? broken.message : ((end ?? last)?.message ?? 'Accepted'),
    };
  });
}

/** Which stage has begun last; the first begins with the acceptance. */
function latestOf(entries: readonly Entry[]): number {
  return Object.values(steps).reduce(
    (latest, own, index) => (entries.some((entry) => own.includes(entry.stage)) ? index : latest),
    0,
  );
}

/** Where it failed, whatever was cleaned up after; null once the same stage has gone on. */
function failureOf(entries: readonly Entry[]): { stage: number; entry: Entry } | null {
  const at = entries.findLastIndex((entry) => entry.stage === 'failed');
  if (at === -1) return null;
  const stage = latestOf(entries.slice(0, at));
  const again = entries.slice(at).some((entry) => Object.values(steps)[stage]!.includes(entry.stage));
  return again ? null : { stage, entry: entries[at]! };
}

/** A stage lasts until the next begins; but after the last one of a launch comes the lease, which is no stage. */
function endOf(end: Entry | undefined, next: string | null): string {
  return end && (next === null || end.stage === 'active') ? end.occurred_at : next!;
}

/** Each step of a stage counts the same. */
function percentOf(stage: ProgressStage['stage'], last: Entry | undefined): number {
  if (!last) return 0;
  const within = steps[stage];
  const share = last.status === 'done' ? 100 : (last.percent ?? 0);
  return Math.min(99, Math.floor((within.indexOf(last.stage) * 100 + share) / within.length));
}
