import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { idleLeasesQuery } from '../api/reports.ts';
import type { IdleLease } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

const SECOND_MS = 1_000;

const COLUMNS: Column<IdleLease>[] = [
  {
    header: 'Allocation',
    cell: ({ allocation_id: id, name }) => (
      <Link to="/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  {
    header: 'Idle since',
    cell: ({ idle_since: at }) => (at ? <Timestamp at={at} as="clock" /> : 'Busy now'),
    from: 'sm',
  },
  {
    header: 'Idle in all',
    cell: ({ idle_seconds: seconds }) => formatDuration(seconds * SECOND_MS),
    align: 'right',
    from: 'md',
  },
  { header: 'Cost of it', cell: ({ cost }) => formatMoney(cost, 2), align: 'right' },
];

/** Leases that are paid for while their GPUs do nothing; nothing where there are none. */
export function IdlePanel({ organizationId }: { organizationId: string }) {
  const { data = [] } = useQuery(idleLeasesQuery(organizationId));
  if (data.length === 0) return null;
  return (
    <Panel title="Idle leases" flush>
      <DataTable label="Idle leases" columns={COLUMNS} rows={data} rowKey={(row) => row.allocation_id} />
    </Panel>
  );
}
