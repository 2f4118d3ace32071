import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Hourglass } from 'lucide-react';
import { allocationsQuery, releaseAllocation } from '../api/allocations/allocations.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Allocation } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const COLUMNS: Column<Allocation>[] = [
  {
    header: 'Launch',
    cell: ({ id, name }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  { header: 'Position', cell: ({ queue }) => queue?.position ?? '—', align: 'right' },
  { header: 'GPUs', cell: ({ gpu_count: gpus }) => gpus, align: 'right', from: 'sm' },
  {
    header: 'Reason',
    cell: ({ queue }) => (
      <span title={queue?.detail} className="block max-w-80 truncate text-ink-muted">
        {queue?.detail}
      </span>
    ),
    from: 'lg',
  },
  {
    header: 'Expected',
    cell: ({ queue }) => (queue?.expected_at ? <Timestamp at={queue.expected_at} as="clock" /> : 'Unknown'),
    from: 'md',
  },
  { header: 'Actions', cell: (allocation) => <Leave allocation={allocation} />, align: 'right' },
];

/** Queued launches of the project. */
export function LaunchQueue({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(allocationsQuery(projectId, 'queued'));
  return (
    <Panel title="Queue" flush>
      <ResourceList
        label="Queued launches"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Hourglass} title="Queue is empty">
            Launches that do not fit can be queued and start automatically.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Leave({ allocation }: { allocation: Allocation }) {
  const refusal = useProjectDisabledReason(allocation.project_id, 'allocation.release');
  const leave = useRefreshingMutation({
    mutationFn: () => releaseAllocation(allocation.id),
    refreshes: [allocationKeys.lists],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Cancel"
        title={`Cancel the launch of ${allocation.name}?`}
        confirmLabel="Cancel launch"
        disabledReason={refusal}
        act={leave}
      >
        The launch is removed from the queue. You were not billed.
      </ConfirmButton>
    </RowActions>
  );
}
