import { Tabs } from '@base-ui/react/tabs';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { allocationQuery } from '../api/allocations/allocations.ts';
import type { Allocation } from '../api/types.ts';
import { pluralize } from '../format/humanize.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { AllocationOverview } from './allocation-overview.tsx';
import { AllocationSummary } from './allocation-summary.tsx';
import { ExtendButton } from './extend-button.tsx';
import { ReleaseButton } from './release/release-button.tsx';
import { StateBadge } from './state-badge.tsx';
import { TerminalTab } from './terminal/terminal-tab.tsx';

const route = getRouteApi('/signed-in/allocations/$allocationId');

export function AllocationPage() {
  const { allocationId } = route.useParams();
  const query = useQuery(allocationQuery(allocationId));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the allocation" />}
      missing={<NotFound what="allocation" />}
    >
      {(allocation) => (
        <AllocationDetail key={allocation.id} allocation={allocation} fetchedAt={query.dataUpdatedAt} />
      )}
    </QueryBoundary>
  );
}

interface AllocationDetailProps {
  allocation: Allocation;
  fetchedAt: number;
}

function AllocationDetail({ allocation, fetchedAt }: AllocationDetailProps) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page
      title={allocation.name}
      aside={<StateBadge state={allocation.state} />}
      subtitle={`${pluralize(allocation.gpu_count, 'GPU')} · ${allocation.sku} · ${allocation.region}`}
      actions={
        <>
          <ExtendButton allocation={allocation} />
          <ReleaseButton allocation={allocation} onReleased={() => void navigate({ search: {} })} />
        </>
      }
    >
      <AllocationSummary allocation={allocation} fetchedAt={fetchedAt} />
      <Tabs.Root
        value={tab ?? 'overview'}
        onValueChange={(next: string) => void navigate({ search: next === 'terminal' ? { tab: next } : {} })}
        className="flex flex-col gap-4"
      >
        <Tabs.List aria-label="Allocation" className="flex gap-4 border-b border-line">
          <Tab value="overview">Overview</Tab>
          <Tab value="terminal">Terminal</Tab>
        </Tabs.List>
        <Tabs.Panel value="overview">
          <AllocationOverview allocation={allocation} />
        </Tabs.Panel>
        <Tabs.Panel value="terminal">
          <TerminalTab allocation={allocation} />
        </Tabs.Panel>
      </Tabs.Root>
    </Page>
  );
}

function Tab({ value, children }: { value: string; children: string }) {
  return (
    <Tabs.Tab
      value={value}
      className="-mb-px border-b-2 border-transparent px-0.5 pb-2 text-sm text-ink-muted hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
    >
      {children}
    </Tabs.Tab>
  );
}
