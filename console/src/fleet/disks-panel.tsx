import { useQuery } from '@tanstack/react-query';
import { disksQuery } from '../api/fleet-facts.ts';
import type { NodeDisk } from '../api/types.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Code } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

const COLUMNS: Column<NodeDisk>[] = [
  { header: 'Disk', cell: ({ serial }) => <Code>{serial}</Code> },
  { header: 'Owner', cell: (disk) => <Owner {...disk} /> },
  { header: 'Use', cell: (disk) => <Use {...disk} /> },
  { header: 'Wipe proof', cell: ({ wipe_proof: proof }) => proof ?? '—', from: 'lg' },
];

/** Who owns each disk, and what is still on it. */
export function DisksPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(disksQuery(nodeId));
  return (
    <Panel title="Disks" flush>
      <Loaded query={query} loading={<Skeleton label="Loading disks" rows={3} />}>
        {(disks) =>
          disks.length > 0 ? (
            <DataTable label="Disks" columns={COLUMNS} rows={disks} rowKey={({ serial }) => serial} />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No disk is known before the first discovery.</p>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Owner({ ownership, conversion }: NodeDisk) {
  return (
    <span className="inline-flex items-center gap-2">
      {ownership ? inWords(ownership) : 'Not said'}
      {conversion && <Badge tone="warn">Converting to slice</Badge>}
    </span>
  );
}

function Use({ present, mounts, filesystems }: NodeDisk) {
  if (!present) return <Badge tone="danger">Not found</Badge>;
  if (mounts.length > 0) return <>Mounted at {mounts.join(', ')}</>;
  return <span className="text-ink-muted">{filesystems.length > 0 ? filesystems.join(', ') : 'Blank'}</span>;
}
