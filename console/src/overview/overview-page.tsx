import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { allocationsQuery } from '../api/allocations/allocations.ts';
import { spendQuery } from '../api/billing/billing.ts';
import { projectIncidentsQuery } from '../api/operations/incidents.ts';
import { idleLeasesQuery } from '../api/billing/reports.ts';
import { hasOrganizationPermission, useMe, type ProjectChoice } from '../api/me.ts';
import { LaunchLink } from '../shell/launch-link.tsx';
import { ProjectPage } from '../shell/project-page.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { AttentionPanel } from './attention-panel.tsx';
import { attentionItems, idleLeaseItems } from './attention.ts';
import { FirstLaunch } from './first-launch.tsx';
import { QuickLaunch } from './quick-launch.tsx';
import { OverviewFigures } from './overview-figures.tsx';
import { RunningPanel } from './running-panel.tsx';

const MINUTE_MS = 60_000;

/** A tenant's start page: running leases, cost, notices, and links to more. */
export function OverviewPage() {
  return (
    <ProjectPage
      title="Overview"
      subtitle={({ project, organization }) => `${project.name}, ${organization.name}`}
      actions={({ project }) => <LaunchLink projectId={project.id} />}
    >
      {(choice) => <Overview key={choice.project.id} choice={choice} />}
    </ProjectPage>
  );
}

function Overview({ choice: { organization, project } }: { choice: ProjectChoice }) {
  const me = useMe();
  const now = useNow(MINUTE_MS);
  const seesMoney = hasOrganizationPermission(me, organization.id, 'billing.read');
  const query = useInfiniteQuery(allocationsQuery(project.id, 'live'));
  const past = useInfiniteQuery(allocationsQuery(project.id)).data;
  const failed = useInfiniteQuery(allocationsQuery(project.id, 'failed')).data ?? [];
  const incidents = useQuery(projectIncidentsQuery(project.id)).data?.items ?? [];
  const spend = useQuery({ ...spendQuery(organization.id), enabled: seesMoney }).data?.spend ?? null;
  const idle = useQuery({ ...idleLeasesQuery(organization.id), enabled: seesMoney }).data ?? [];
  return (
    <QueryBoundary query={query} loading={<Skeleton label="Loading the overview" rows={6} />}>
      {(live) => (
        <>
          <OverviewFigures allocations={live} spend={spend} />
          <AttentionPanel
            items={[
              ...attentionItems([...live, ...failed], incidents, spend ?? [], now),
              ...idleLeaseItems(idle, project.id),
            ]}
          />
          {live.length === 0 && past?.length === 0 ? (
            <FirstLaunch organizationId={organization.id} />
          ) : (
            <div className="grid items-start gap-4 xl:grid-cols-[1fr_22rem]">
              <RunningPanel allocations={live} more={query.hasNextPage} />
              <Panel title={live.length === 0 ? 'Launch' : 'Launch another'}>
                <QuickLaunch organizationId={organization.id} />
              </Panel>
            </div>
          )}
        </>
      )}
    </QueryBoundary>
  );
}
