import { useQuery } from '@tanstack/react-query';
import { disksQuery } from '../../api/fleet/fleet-facts.ts';
import type { NodeDisk } from '../../api/types.ts';
import { humanize } from '../../format/humanize.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { DataTable, type Column } from '../../ui/tables/data-table.tsx';
import { Code } from '../../ui/values/facts.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';

const COLUMNS: Column<NodeDisk>[] = [
  { header: 'Disk', cell: ({ serial }) => <Code>{serial}</Code> },
  { header: 'Owner', cell: (disk) => <Owner {...disk} /> },
  { header: 'Use', cell: (disk) => <Use {...disk} /> },
  { header: 'Wipe proof', cell: ({ wipe_proof: proof }) => proof ?? '—', from: 'lg' },
];

/** Owner of each disk, and its content. */
export function DisksPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(disksQuery(nodeId));
  return (
    <Panel title="Disks" flush>
      <QueryBoundary query={query} loading={<Skeleton label="Loading disks" rows={3} />}>
        {(disks) =>
          disks.length > 0 ? (
            <DataTable label="Disks" columns={COLUMNS} rows={disks} rowKey={({ serial }) => serial} />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No disks known yet. Run a discovery.</p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function Owner({ ownership, conversion }: NodeDisk) {
  return (
    <span className="inline-flex items-center gap-2">
      {ownership ? humanize(ownership) : 'Unassigned'}
      {conversion && <Badge tone="warn">Converting to slice</Badge>}
    </span>
  );
}

function Use({ present, mounts, filesystems }: NodeDisk) {
  if (!present) return <Badge tone="danger">Not found</Badge>;
  if (mounts.length > 0) return <>Mounted at {mounts.join(', ')}</>;
  return <span className="text-ink-muted">{filesystems.length > 0 ? filesystems.join(', ') : 'Blank'}</span>;
}
