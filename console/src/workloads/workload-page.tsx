import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { instanceQuery } from '../api/apps/instances.ts';
import type { AppInstance } from '../api/types.ts';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Page } from '../ui/page.tsx';
import { AttemptsPanel } from './attempts-panel.tsx';
import { ConnectPanel, hasAddress } from './connect-panel.tsx';
import { SharePanel } from './sharing/share-panel.tsx';
import { LogPanel } from './log/log-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { RetryLink } from './retry-link.tsx';
import { StatusBadge } from './status-badge.tsx';
import { StopButton } from './stop-button.tsx';
import { TeardownPanel } from './teardown-panel.tsx';
import { EventTimeline } from './timeline/event-timeline.tsx';
import { WorkloadFacts } from './workload-facts.tsx';
import { WorkloadNotice } from './workload-notice.tsx';
import { hasEnded } from './workload-statuses.ts';
import { WorkloadSummary } from './workload-summary.tsx';

const route = getRouteApi('/signed-in/workloads/$instanceId');

export function WorkloadPage() {
  const { instanceId } = route.useParams();
  const query = useQuery(instanceQuery(instanceId));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the workload" />}
      missing={<NotFound what="workload" />}
    >
      {(instance) => <Workload key={instance.id} instance={instance} />}
    </QueryBoundary>
  );
}

function Workload({ instance }: { instance: AppInstance }) {
  const { name, status, display_name: app, allocation_name: machine, attempt } = instance;
  return (
    <Page
      title={name}
      aside={<StatusBadge status={status} />}
      subtitle={`${app} on ${machine}${attempt > 1 ? ` · attempt ${attempt}` : ''}`}
      actions={hasEnded(instance) ? <RetryLink instance={instance} /> : <StopButton instance={instance} />}
    >
      <WorkloadSummary instance={instance} />
      <WorkloadNotice instance={instance} />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {!hasEnded(instance) && <ConnectPanel instance={instance} />}
          {!hasEnded(instance) && hasAddress(instance) && <SharePanel instance={instance} />}
          <EventTimeline instance={instance} />
          <LogPanel instance={instance} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <TeardownPanel instance={instance} />
          <AttemptsPanel instance={instance} />
          <MembersPanel instance={instance} />
          <WorkloadFacts instance={instance} />
        </div>
      </div>
    </Page>
  );
}
