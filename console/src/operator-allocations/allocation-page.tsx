import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { AllocationFacts } from '../allocations/allocation-facts.tsx';
import { AllocationFailure } from '../allocations/allocation-failure.tsx';
import { AllocationSummary } from '../allocations/allocation-summary.tsx';
import { StateBadge } from '../allocations/state-badge.tsx';
import { StatesPanel } from '../allocations/states-panel.tsx';
import { operatorAllocationQuery } from '../api/allocations/operator-allocations.ts';
import type { AllocationDetail } from '../api/types.ts';
import { TenantName } from '../tenants/tenant-name.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { ClaimsPanel } from './claims-panel.tsx';
import { OperatorActions } from './operator-actions.tsx';
import { StagesPanel } from './stages-panel.tsx';
import { AllocationTasks } from './allocation-tasks.tsx';

const route = getRouteApi('/signed-in/operator/allocations/$allocationId');

export function OperatorAllocationPage() {
  const { allocationId } = route.useParams();
  const query = useQuery(operatorAllocationQuery(allocationId));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the allocation" />}
      missing={<NotFound what="allocation" />}
    >
      {(detail) => <Detail detail={detail} fetchedAt={query.dataUpdatedAt} />}
    </QueryBoundary>
  );
}

function Detail({ detail, fetchedAt }: { detail: AllocationDetail; fetchedAt: number }) {
  const { allocation } = detail;
  return (
    <Page
      title={allocation.name}
      aside={<StateBadge state={allocation.state} />}
      subtitle={
        <>
          {allocation.capacity_shape === 'baremetal' ? 'Baremetal' : 'GPU slice'} of{' '}
          <TenantName id={allocation.organization_id} />
        </>
      }
      actions={<OperatorActions allocation={allocation} />}
    >
      <AllocationSummary allocation={allocation} fetchedAt={fetchedAt} />
      <AllocationFailure allocation={allocation} />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <ClaimsPanel detail={detail} />
          <StagesPanel stages={detail.stages} />
          <AllocationTasks tasks={detail.tasks} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <StatesPanel states={allocation.states} />
          <AllocationFacts allocation={allocation} />
        </div>
      </div>
    </Page>
  );
}
