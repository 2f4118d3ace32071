import { useQuery } from '@tanstack/react-query';
import { driftQuery } from '../../api/fleet/fleet-facts.ts';
import type { TopologyDrift } from '../../api/types.ts';
import { humanize } from '../../format/humanize.ts';
import { DataTable, type Column } from '../../ui/tables/data-table.tsx';
import { Code } from '../../ui/values/facts.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';

type Difference = TopologyDrift['items'][number];

const COLUMNS: Column<Difference>[] = [
  { header: 'Slot', cell: ({ slot_index: index }) => index },
  { header: 'Difference', cell: ({ kind }) => humanize(kind) },
  { header: 'Approved', cell: ({ approved }) => <Code>{approved ?? '—'}</Code> },
  { header: 'Found', cell: ({ observed }) => <Code>{observed ?? '—'}</Code> },
];

/** Differences between the approved and the last discovered topology. */
export function DriftPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(driftQuery(nodeId));
  return (
    <Panel title="Drift" flush>
      <QueryBoundary query={query} loading={<Skeleton label="Loading drift" rows={1} />}>
        {({ items, discovered_at: at }) =>
          items.length > 0 ? (
            <DataTable
              label="Drift"
              columns={COLUMNS}
              rows={items}
              rowKey={({ slot_index: index, kind, approved, observed }) =>
                [index, kind, approved, observed].join(' ')
              }
            />
          ) : (
            <p className="p-4 text-sm text-ink-muted">
              {at ? 'No drift: the host matches its approved topology.' : 'No discovery yet.'}
            </p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}
