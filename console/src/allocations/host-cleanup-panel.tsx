import { useQuery } from '@tanstack/react-query';
import { hostCleanupsQuery } from '../api/allocations.ts';
import type { Allocation, HostCleanup } from '../api/types.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Code } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { Verified } from './verified.tsx';

const PROVEN_BY: Record<HostCleanup['proven_by'], string> = {
  host: 'The host itself',
  maas: 'An erasure from outside',
  witness: 'A person',
};

const COLUMNS: Column<HostCleanup>[] = [
  { header: 'Method', cell: ({ method }) => <Code>{method}</Code> },
  { header: 'Proof', cell: (cleanup) => <Verified {...cleanup} /> },
  { header: 'Proven by', cell: ({ proven_by: by }) => PROVEN_BY[by], from: 'sm' },
  { header: 'Found', cell: ({ verification }) => verification, from: 'md' },
  { header: 'Finished', cell: ({ finished_at: at }) => <Timestamp at={at} />, from: 'lg' },
];

/** What was found on a host that was leased as a whole, after its tenant had left. */
export function HostCleanupPanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(hostCleanupsQuery(allocation.id));
  return (
    <Panel title="Cleanup of the host" flush>
      <Loaded query={query} loading={<Skeleton label="Loading the cleanups" rows={1} />}>
        {(cleanups) =>
          cleanups.length > 0 ? (
            <DataTable
              label="Cleanups of the host"
              columns={COLUMNS}
              rows={cleanups}
              rowKey={({ id }) => id}
            />
          ) : (
            <p className="p-4 text-sm text-ink-muted">The host has not been cleaned up yet.</p>
          )
        }
      </Loaded>
    </Panel>
  );
}
