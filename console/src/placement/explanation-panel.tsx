import { Link } from '@tanstack/react-router';
import type { PlacementExplanation, PlacementNode } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { counted, inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { Notice } from '../ui/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

const COLUMNS: Column<PlacementNode>[] = [
  {
    header: 'Host',
    cell: ({ node_id: id, hostname }) => (
      <Link to="/operator/nodes/$nodeId" params={{ nodeId: id }} className={ROW_LINK_CLASS}>
        {hostname}
      </Link>
    ),
  },
  { header: 'Free', cell: ({ free_gpus: free }) => free, align: 'right' },
  {
    header: 'Against it',
    cell: ({ rejected_by: filters }) =>
      filters.length === 0 ? (
        <Badge tone="success">Could serve it</Badge>
      ) : (
        <span className="text-ink-muted">{filters.map(inWords).join(', ')}</span>
      ),
  },
  {
    header: 'Scores, lower is better',
    cell: ({ scores }) => (
      <span className="text-xs whitespace-normal text-ink-muted tabular-nums">
        {scores.map(({ score, value }) => `${inWords(score)} ${value ?? '∞'}`).join(' · ') || '—'}
      </span>
    ),
    from: 'lg',
  },
];

export function ExplanationPanel({ explanation }: { explanation: PlacementExplanation }) {
  const { fits, nearest, reasons, expected_at: expected, price, nodes } = explanation;
  return (
    <>
      <Notice tone={fits ? 'info' : 'warn'} title={fits ? 'It fits now' : 'It does not fit now'}>
        <p>
          {formatMoney(price.per_hour)} an hour.{' '}
          {!fits && nearest && `${counted(nearest.gpu_count, 'GPU')} would fit. `}
          {!fits && !nearest && 'No smaller shape fits either. '}
          {!fits && expected && (
            <>
              Room is expected at <Timestamp at={expected} />.
            </>
          )}
        </p>
        {reasons.length > 0 && (
          <ul className="list-disc pl-4">
            {reasons.map(({ filter, reason, nodes: count, nodes_otherwise_fitting: only }) => (
              <li key={filter}>
                {counted(count, 'host')}: {reason} {only > 0 && `(the only obstacle of ${only})`}
              </li>
            ))}
          </ul>
        )}
      </Notice>
      <Panel title="Hosts, best first" flush>
        {nodes && nodes.length > 0 ? (
          <DataTable label="Hosts" columns={COLUMNS} rows={nodes} rowKey={({ node_id: id }) => id} />
        ) : (
          <p className="p-4 text-sm text-ink-muted">No host of the region comes near it.</p>
        )}
      </Panel>
    </>
  );
}
