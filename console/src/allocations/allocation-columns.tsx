import { Link } from '@tanstack/react-router';
import type { Allocation } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { StateBadge } from './state-badge.tsx';

/** An allocation as a row, for its tenant. */
export const ALLOCATION_COLUMNS: Column<Allocation>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
    sort: (a, b) => a.name.localeCompare(b.name),
  },
  {
    header: 'State',
    cell: ({ state }) => <StateBadge state={state} />,
    sort: (a, b) => a.state.localeCompare(b.state),
  },
  {
    header: 'GPUs',
    cell: ({ gpu_count: gpus }) => gpus,
    align: 'right',
    sort: (a, b) => a.gpu_count - b.gpu_count,
  },
  {
    header: 'SKU',
    cell: ({ sku }) => <span className="text-ink-muted">{sku}</span>,
    from: 'lg',
    sort: (a, b) => a.sku.localeCompare(b.sku),
  },
  { header: 'Region', cell: ({ region }) => <span className="text-ink-muted">{region}</span>, from: 'md' },
  {
    header: 'Price / h',
    cell: ({ quote }) => formatMoney(quote.per_hour),
    align: 'right',
    from: 'sm',
    sort: (a, b) => a.quote.per_hour.micros - b.quote.per_hour.micros,
  },
  {
    header: 'Cost so far',
    cell: ({ cost_so_far: cost }) => formatMoney(cost, 2),
    align: 'right',
    from: 'lg',
    sort: (a, b) => a.cost_so_far.micros - b.cost_so_far.micros,
  },
  {
    header: 'Created',
    cell: ({ created_at: at }) => (
      <span className="text-ink-muted">
        <RelativeTime since={at} />
      </span>
    ),
    align: 'right',
    from: 'sm',
    sort: (a, b) => a.created_at.localeCompare(b.created_at),
  },
];
