import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { idleLeasesQuery } from '../api/billing/reports.ts';
import type { IdleLease } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/format-time.ts';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

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
    cell: ({ idle_since: at }) => (at ? <Timestamp at={at} as="clock" /> : 'Utilisation'),
    from: 'sm',
  },
  {
    header: 'Total idle time',
    cell: ({ idle_seconds: seconds }) => formatDuration(seconds * SECOND_MS),
    align: 'right',
    from: 'md',
  },
  { header: 'Idle cost', cell: ({ cost }) => formatMoney(cost, 2), align: 'right' },
];

/** Leases that cost money while their GPUs are idle; hidden when there are none. */
export function IdlePanel({ organizationId }: { organizationId: string }) {
  const { data = [] } = useQuery(idleLeasesQuery(organizationId));
  if (data.length === 0) return null;
  return (
    <Panel title="Idle leases" flush>
      <DataTable label="Idle leases" columns={COLUMNS} rows={data} rowKey={(row) => row.allocation_id} />
    </Panel>
  );
}
