import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { allocationsQuery } from '../api/allocations.ts';
import type { Allocation } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ShowMore } from '../ui/show-more.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Age } from '../ui/timestamp.tsx';
import { NoAllocations } from './no-allocations.tsx';
import { StateBadge } from './state-badge.tsx';

const COLUMNS: Column<Allocation>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { header: 'GPUs', cell: ({ gpu_count: gpus }) => gpus, align: 'right' },
  { header: 'SKU', cell: ({ sku }) => <span className="text-ink-muted">{sku}</span>, from: 'lg' },
  { header: 'Region', cell: ({ region }) => <span className="text-ink-muted">{region}</span>, from: 'md' },
  { header: 'Price / h', cell: ({ quote }) => formatMoney(quote.per_hour), align: 'right', from: 'sm' },
  {
    header: 'Created',
    cell: ({ created_at: at }) => (
      <span className="text-ink-muted">
        <Age since={at} />
      </span>
    ),
    align: 'right',
    from: 'sm',
  },
];

export function AllocationsTable({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(allocationsQuery(projectId));
  return (
    <Loaded query={query} loading={<Skeleton label="Loading allocations" />}>
      {(allocations) =>
        allocations.length === 0 ? (
          <NoAllocations />
        ) : (
          <>
            <DataTable label="Allocations" columns={COLUMNS} rows={allocations} rowKey={({ id }) => id} />
            <ShowMore query={query} />
          </>
        )
      }
    </Loaded>
  );
}
