import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Hourglass } from 'lucide-react';
import { allocationsQuery, releaseAllocation } from '../api/allocations.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

const COLUMNS: Column<Allocation>[] = [
  {
    header: 'Launch',
    cell: ({ id, name }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  { header: 'Place', cell: ({ queue }) => queue?.position ?? '—', align: 'right' },
  { header: 'GPUs', cell: ({ gpu_count: gpus }) => gpus, align: 'right', from: 'sm' },
  {
    header: 'Why it waits',
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

/** Launches of the project that wait for room. */
export function LineOfLaunches({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(allocationsQuery(projectId, 'queued'));
  return (
    <Panel title="In line" flush>
      <ResourceList
        label="Launches in line"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Hourglass} title="Nothing waits">
            A launch that does not fit can wait in line; it then starts by itself.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Leave({ allocation }: { allocation: Allocation }) {
  const refusal = useProjectRefusal(allocation.project_id, 'allocation.release');
  const leave = useChange({
    mutationFn: () => releaseAllocation(allocation.id),
    refreshes: [allocationKeys.lists],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Leave"
        title={`Take ${allocation.name} out of the line?`}
        confirmLabel="Leave the line"
        disabledReason={refusal}
        act={leave}
      >
        It gives up its place and will not start. Nothing was billed for it.
      </ConfirmButton>
    </RowActions>
  );
}
