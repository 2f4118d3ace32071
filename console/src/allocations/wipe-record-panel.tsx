import { useQuery } from '@tanstack/react-query';
import { wipeCertificatesQuery } from '../api/allocations.ts';
import type { Allocation, WipeCertificate } from '../api/types.ts';
import { formatDuration } from '../format/time.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Code } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { Verified } from './verified.tsx';
import { WipeCertificateActions } from './wipe-certificate-actions.tsx';

const COLUMNS: Column<WipeCertificate>[] = [
  { header: 'Slot', cell: ({ slot_index: slot }) => slot },
  { header: 'Device serial', cell: ({ device_serial: serial }) => <Code>{serial}</Code> },
  { header: 'Method', cell: ({ method }) => <Code>{method}</Code>, from: 'sm' },
  { header: 'Proof', cell: (certificate) => <Verified {...certificate} /> },
  { header: 'Finished', cell: ({ finished_at: at }) => <Timestamp at={at} />, from: 'lg' },
  {
    header: 'Took',
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
      <Loaded query={query} loading={<Skeleton label="Loading the wipe record" rows={2} />}>
        {(certificates) =>
          certificates.length > 0 ? (
            <DataTable
              label="Wipe certificates"
              columns={COLUMNS}
              rows={certificates}
              rowKey={({ id }) => id}
            />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No disk of this allocation has been wiped yet.</p>
          )
        }
      </Loaded>
    </Panel>
  );
}
