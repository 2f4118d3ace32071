import { useQuery } from '@tanstack/react-query';
import { timelineQuery } from '../../api/allocations/allocations.ts';
import type { Allocation, TimelineSection } from '../../api/types.ts';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StepItem } from './step-item.tsx';

/** The steps of an allocation as the server tells them; the latest section is on top. */
export function TimelinePanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(timelineQuery(allocation.id));
  return (
    <Panel title="Timeline">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the timeline" rows={6} />}>
        {(sections) => (
          <div className="flex flex-col gap-5">
            {sections.toReversed().map((section) => (
              <Section key={section.section} {...section} />
            ))}
          </div>
        )}
      </QueryBoundary>
    </Panel>
  );
}

function Section({ title, steps }: TimelineSection) {
  return (
    <div>
      <h3 className="pb-2 text-xs font-medium text-ink-faint">{title}</h3>
      <ol className="flex flex-col">
        {steps.map((step) => (
          <StepItem key={`${step.stage} ${step.started_at}`} step={step} />
        ))}
      </ol>
    </div>
  );
}
