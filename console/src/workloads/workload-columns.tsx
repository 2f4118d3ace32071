import { Link } from '@tanstack/react-router';
import type { AppInstance } from '../api/types.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { ReasonText } from './reason-text.tsx';
import { StatusBadge } from './status-badge.tsx';

/** An app instance as a row. */
export const WORKLOAD_COLUMNS: Column<AppInstance>[] = [
  {
    header: 'Name',
    cell: ({ id, name, attempt }) => (
      <>
        <Link to="/workloads/$instanceId" params={{ instanceId: id }} className={ROW_LINK_CLASS}>
          {name}
        </Link>
        {attempt > 1 && <span className="text-xs text-ink-faint"> attempt {attempt}</span>}
      </>
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Reason', cell: ({ reason }) => <ReasonText reason={reason} />, from: 'sm' },
  {
    header: 'App',
    cell: ({ app_slug: slug, app_version: version }) => (
      <>
        {slug} <span className="text-xs text-ink-faint">{version}</span>
      </>
    ),
    from: 'md',
  },
  {
    header: 'Allocation',
    cell: ({ allocation_id: allocationId, allocation_name: name }) => (
      <Link
        to="/allocations/$allocationId"
        params={{ allocationId }}
        className="relative z-10 text-accent-text hover:underline"
      >
        {name}
      </Link>
    ),
    from: 'md',
  },
  {
    header: 'Started',
    cell: ({ started_at: at }) => (
      <span className="text-ink-muted">{at ? <RelativeTime since={at} /> : 'Not started'}</span>
    ),
    align: 'right',
    from: 'sm',
  },
];
