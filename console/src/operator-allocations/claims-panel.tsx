import { Link } from '@tanstack/react-router';
import type { AllocationDetail } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { DataTable, type Column } from '../ui/tables/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

type Claim = AllocationDetail['claims'][number];

const COLUMNS: Column<Claim>[] = [
  {
    header: 'Claims',
    cell: ({ claim_kind: kind, slot_index: slot }) =>
      kind === 'slot' ? `Slot ${slot ?? '?'}` : 'Whole host',
  },
  {
    header: 'State',
    cell: ({ released_at: released }) => (
      <Badge tone={released ? 'neutral' : 'info'}>{released ? 'Released' : 'Held'}</Badge>
    ),
  },
  { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} as="clock" />, from: 'sm' },
  {
    header: 'Until',
    cell: ({ released_at: released, ends_at: ends }) => {
      const at = released ?? ends;
      return at ? <Timestamp at={at} as="clock" /> : 'Released';
    },
    from: 'md',
  },
];

/** Claims on slots and hosts. A claim ends when the wipe of its slot is verified. */
export function ClaimsPanel({ detail: { claims, node } }: { detail: AllocationDetail }) {
  return (
    <Panel
      title="Claims"
      flush
      aside={
        node && (
          <Link
            to="/operator/nodes/$nodeId"
            params={{ nodeId: node.node_id }}
            className="text-sm text-accent-text hover:underline"
          >
            {node.hostname}
          </Link>
        )
      }
    >
      {claims.length > 0 ? (
        <DataTable label="Claims" columns={COLUMNS} rows={claims} rowKey={({ id }) => id} />
      ) : (
        <p className="p-4 text-sm text-ink-muted">No claims</p>
      )}
    </Panel>
  );
}
