import { useQuery } from '@tanstack/react-query';
import { driftQuery } from '../api/fleet-facts.ts';
import type { TopologyDrift } from '../api/types.ts';
import { inWords } from '../format/words.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Code } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

type Difference = TopologyDrift['items'][number];

const COLUMNS: Column<Difference>[] = [
  { header: 'Slot', cell: ({ slot_index: index }) => index },
  { header: 'Difference', cell: ({ kind }) => inWords(kind) },
  { header: 'Approved', cell: ({ approved }) => <Code>{approved ?? '—'}</Code> },
  { header: 'Found', cell: ({ observed }) => <Code>{observed ?? '—'}</Code> },
];

/** What was approved against what the host was last found to be. */
export function DriftPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(driftQuery(nodeId));
  return (
    <Panel title="Drift" flush>
      <Loaded query={query} loading={<Skeleton label="Loading the drift" rows={1} />}>
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
              {at ? 'The host is as it was approved.' : 'The host was not discovered yet.'}
            </p>
          )
        }
      </Loaded>
    </Panel>
  );
}
