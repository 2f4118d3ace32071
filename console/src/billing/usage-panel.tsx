import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { usageQuery } from '../api/billing/billing.ts';
import type { UsageRecord } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/format-time.ts';
import { pluralize, shortId } from '../format/humanize.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const SECOND_MS = 1_000;

const COLUMNS: Column<UsageRecord>[] = [
  {
    header: 'Allocation',
    cell: ({ allocation_id: id }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        <code className="font-mono">{shortId(id)}</code>
      </Link>
    ),
  },
  { header: 'GPUs', cell: ({ gpu_count: count }) => pluralize(count, 'GPU'), from: 'sm' },
  { header: 'From', cell: ({ window_from: at }) => <Timestamp at={at} as="clock" />, from: 'md' },
  { header: 'To', cell: ({ window_to: at }) => <Timestamp at={at} as="clock" />, from: 'lg' },
  {
    header: 'Billed',
    cell: ({ billed_seconds: seconds }) => formatDuration(seconds * SECOND_MS),
    align: 'right',
    from: 'sm',
  },
  { header: 'Amount', cell: ({ amount }) => formatMoney(amount), align: 'right' },
];

/** Metered usage, window by window. */
export function UsagePanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(usageQuery(organizationId));
  return (
    <Panel title="Usage" flush>
      <ResourceList
        label="Usage"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Gauge} title="No usage yet">
            Usage is metered from the moment a machine is ready.
          </EmptyState>
        }
      />
    </Panel>
  );
}
