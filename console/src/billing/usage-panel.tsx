import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { usageQuery } from '../api/billing.ts';
import type { UsageRecord } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';
import { counted, shortId } from '../format/words.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

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
  { header: 'GPUs', cell: ({ gpu_count: count }) => counted(count, 'GPU'), from: 'sm' },
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

/** What was metered, window by window. */
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
          <EmptyState icon={Gauge} title="Nothing was used yet">
            Each machine is metered by what its host has shown, from the moment it answers.
          </EmptyState>
        }
      />
    </Panel>
  );
}
