import { useQuery } from '@tanstack/react-query';
import { wipeCertificatesQuery } from '../../api/allocations/allocations.ts';
import type { Allocation, WipeCertificate } from '../../api/types.ts';
import { formatDuration } from '../../format/format-time.ts';
import { DataTable, type Column } from '../../ui/tables/data-table.tsx';
import { Code } from '../../ui/values/facts.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';
import { VerifiedBadge } from './verified.tsx';
import { WipeCertificateActions } from './wipe-certificate-actions.tsx';

const COLUMNS: Column<WipeCertificate>[] = [
  { header: 'Slot', cell: ({ slot_index: slot }) => slot },
  { header: 'Device serial', cell: ({ device_serial: serial }) => <Code>{serial}</Code> },
  { header: 'Method', cell: ({ method }) => <Code>{method}</Code>, from: 'sm' },
  { header: 'Proof', cell: (certificate) => <VerifiedBadge {...certificate} /> },
  { header: 'Finished', cell: ({ finished_at: at }) => <Timestamp at={at} />, from: 'lg' },
  {
    header: 'Duration',
    cell: ({ started_at: start, finished_at: end }) => formatDuration(Date.parse(end) - Date.parse(start)),
    align: 'right',
    from: 'md',
  },
  { header: 'Certificate', cell: (wipe) => <WipeCertificateActions wipe={wipe} />, align: 'right' },
];

export function WipeRecordPanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(wipeCertificatesQuery(allocation.id));
  return (
    <Panel title="Wipe record" flush>
      <QueryBoundary query={query} loading={<Skeleton label="Loading the wipe record" rows={2} />}>
        {(certificates) =>
          certificates.length > 0 ? (
            <DataTable
              label="Wipe certificates"
              columns={COLUMNS}
              rows={certificates}
              rowKey={({ id }) => id}
            />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No disks wiped yet.</p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}
