import type { Stage, TimelineEntry } from '../api/types.ts';

export interface StageProgress {
  stage: Stage;
  status: 'waiting' | 'running' | 'done' | 'failed';
  percent: number | null;
  message: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

/**
 * The entries folded into one line per stage. A stage counts as done once a later one has begun,
 * and the last stage that had begun is the one a failure hit.
 */
export function foldTimeline(stages: readonly Stage[], entries: TimelineEntry[]): StageProgress[] {
  const folded = stages.map((stage) =>
    foldStage(
      stage,
      entries.filter((entry) => entry.stage === stage),
    ),
  );
  const lastBegun = folded.findLastIndex(({ status }) => status !== 'waiting');
  const failure = entries.findLast(({ stage }) => stage === 'failed');
  return folded.map((progress, index) => {
    if (progress.status !== 'running') return progress;
    const next = folded.slice(index + 1).find(({ startedAt }) => startedAt !== null);
    if (index < lastBegun) return { ...progress, status: 'done', endedAt: next?.startedAt ?? null };
    if (failure && isAfter(failure, progress)) {
      return { ...progress, status: 'failed', message: failure.message, endedAt: failure.occurred_at };
    }
    return progress;
  });
}

function foldStage(stage: Stage, entries: TimelineEntry[]): StageProgress {
  const first = entries[0];
  const last = entries.at(-1);
  return {
    stage,
    status: last?.status ?? 'waiting',
    percent: entries.findLast(({ percent }) => percent !== null)?.percent ?? null,
    message: last?.message ?? null,
    startedAt: first?.occurred_at ?? null,
    endedAt: last && last.status !== 'running' ? last.occurred_at : null,
  };
}

function isAfter(failure: TimelineEntry, { startedAt }: StageProgress): boolean {
  return startedAt !== null && Date.parse(failure.occurred_at) >= Date.parse(startedAt);
}
