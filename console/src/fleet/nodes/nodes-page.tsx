import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ServerOff } from 'lucide-react';
import { nodesQuery } from '../../api/fleet/fleet.ts';
import type { Node } from '../../api/types.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { DataTable, ROW_LINK_CLASS, type Column } from '../../ui/tables/data-table.tsx';
import { EmptyState } from '../../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/tables/show-more.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { ConnectionLabel } from './connection-label.tsx';
import { POSTURES } from '../postures.ts';
import { SlotLegend } from '../slots/slot-legend.tsx';
import { SlotStrip } from '../slots/slot-strip.tsx';

const COLUMNS: Column<Node>[] = [
  {
    header: 'Node',
    cell: ({ id, hostname }) => (
      <Link to="/operator/nodes/$nodeId" params={{ nodeId: id }} className={ROW_LINK_CLASS}>
        {hostname}
      </Link>
    ),
  },
  { header: 'Slots', cell: ({ slot_counts: counts }) => <SlotStrip counts={counts} /> },
  {
    header: 'Status',
    cell: ({ posture, posture_reason: reason }) => (
      <span title={reason}>
        <Badge tone={POSTURES[posture].tone}>{POSTURES[posture].label}</Badge>
      </span>
    ),
  },
  { header: 'Connection', cell: ({ connection }) => <ConnectionLabel connection={connection} />, from: 'md' },
  {
    header: 'Region / rack',
    cell: ({ region, rack }) => (
      <span className="text-ink-muted">
        {region} / {rack}
      </span>
    ),
    from: 'lg',
  },
  {
    header: 'Agent',
    cell: ({ agent_version: version }) => <span className="text-ink-muted">{version ?? '—'}</span>,
    align: 'right',
    from: 'lg',
  },
];

export function NodesPage() {
  const query = useInfiniteQuery(nodesQuery);
  return (
    <Page title="Nodes" subtitle="Enrolled hosts with slots, status and connection">
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <QueryBoundary query={query} loading={<Skeleton label="Loading nodes" />}>
          {(nodes) =>
            nodes.length === 0 ? (
              <NoNodes />
            ) : (
              <>
                <DataTable label="Nodes" columns={COLUMNS} rows={nodes} rowKey={({ id }) => id} />
                <ShowMore query={query} />
              </>
            )
          }
        </QueryBoundary>
      </div>
      <SlotLegend />
    </Page>
  );
}

function NoNodes() {
  return (
    <EmptyState icon={ServerOff} title="No hosts yet">
      Create an enrolment token and start the node agent with it. The host appears here once it is enrolled.
    </EmptyState>
  );
}
