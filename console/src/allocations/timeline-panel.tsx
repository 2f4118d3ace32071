import { useQuery } from '@tanstack/react-query';
import { timelineQuery } from '../api/allocations.ts';
import type { Allocation, TimelineEntry } from '../api/types.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { foldTimeline, type StageProgress } from './fold-timeline.ts';
import { LAUNCH_STAGES, RELEASE_STAGES } from './stages.ts';
import { TimelineStage } from './timeline-stage.tsx';

export function TimelinePanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(timelineQuery(allocation.id));
  return (
    <Panel title="Timeline">
      <Loaded query={query} loading={<Skeleton label="Loading the timeline" rows={6} />}>
        {(entries) => <Timeline allocation={allocation} entries={entries} />}
      </Loaded>
    </Panel>
  );
}

function Timeline({ allocation, entries }: { allocation: Allocation; entries: TimelineEntry[] }) {
  const launch = foldTimeline(LAUNCH_STAGES, entries);
  const release = foldTimeline(RELEASE_STAGES, entries);
  const releasing = release.some(({ status }) => status !== 'waiting');
  // Stages that will never come are not promised.
  const launchOver = releasing || allocation.state === 'failed';
  return (
    <div className="flex flex-col gap-5">
      {releasing && (
        <Stages title="Release" stages={allocation.state === 'release_failed' ? begun(release) : release} />
      )}
      <Stages title="Launch" stages={launchOver ? begun(launch) : launch} />
    </div>
  );
}

function begun(stages: StageProgress[]): StageProgress[] {
  return stages.filter(({ status }) => status !== 'waiting');
}

function Stages({ title, stages }: { title: string; stages: StageProgress[] }) {
  return (
    <div>
      <h3 className="pb-2 text-xs font-medium text-ink-faint">{title}</h3>
      <ol className="flex flex-col">
        {stages.map((progress) => (
          <TimelineStage key={progress.stage} progress={progress} />
        ))}
      </ol>
    </div>
  );
}
