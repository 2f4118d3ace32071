import { useQuery } from '@tanstack/react-query';
import { hostCleanupsQuery } from '../../api/allocations/allocations.ts';
import type { Allocation, HostCleanup } from '../../api/types.ts';
import { DataTable, type Column } from '../../ui/tables/data-table.tsx';
import { Code } from '../../ui/values/facts.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';
import { VerifiedBadge } from './verified.tsx';

const PROVEN_BY: Record<HostCleanup['proven_by'], string> = {
  host: 'Host',
  maas: 'External erasure',
  witness: 'Operator',
};

const COLUMNS: Column<HostCleanup>[] = [
  { header: 'Method', cell: ({ method }) => <Code>{method}</Code> },
  { header: 'Proof', cell: (cleanup) => <VerifiedBadge {...cleanup} /> },
  { header: 'Verified by', cell: ({ proven_by: by }) => PROVEN_BY[by], from: 'sm' },
  { header: 'Found', cell: ({ verification }) => verification, from: 'md' },
  { header: 'Finished', cell: ({ finished_at: at }) => <Timestamp at={at} />, from: 'lg' },
];

/** Findings on a host that was leased as a whole, after its tenant left. */
export function HostCleanupPanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(hostCleanupsQuery(allocation.id));
  return (
    <Panel title="Host cleanup" flush>
      <QueryBoundary query={query} loading={<Skeleton label="Loading cleanups" rows={1} />}>
        {(cleanups) =>
          cleanups.length > 0 ? (
            <DataTable label="Host cleanups" columns={COLUMNS} rows={cleanups} rowKey={({ id }) => id} />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No cleanup yet</p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}
