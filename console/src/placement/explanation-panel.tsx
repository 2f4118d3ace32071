import { Link } from '@tanstack/react-router';
import type { PlacementExplanation, PlacementNode } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { pluralize, humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

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
    header: 'Verdict',
    cell: ({ rejected_by: filters }) =>
      filters.length === 0 ? (
        <Badge tone="success">Eligible</Badge>
      ) : (
        <span className="text-ink-muted">{filters.map(humanize).join(', ')}</span>
      ),
  },
  {
    header: 'Scores, lower is better',
    cell: ({ scores }) => (
      <span className="text-xs whitespace-normal text-ink-muted tabular-nums">
        {scores.map(({ score, value }) => `${humanize(score)} ${value ?? '∞'}`).join(' · ') || '—'}
      </span>
    ),
    from: 'lg',
  },
];

export function ExplanationPanel({ explanation }: { explanation: PlacementExplanation }) {
  const { fits, nearest, reasons, expected_at: expected, price, nodes } = explanation;
  return (
    <>
      <Notice tone={fits ? 'info' : 'warn'} title={fits ? 'Fits now' : 'Does not fit now'}>
        <p>
          {formatMoney(price.per_hour)} per hour.{' '}
          {!fits && nearest && `${pluralize(nearest.gpu_count, 'GPU')} would fit. `}
          {!fits && !nearest && 'No smaller size fits either. '}
          {!fits && expected && (
            <>
              Capacity expected at <Timestamp at={expected} />.
            </>
          )}
        </p>
        {reasons.length > 0 && (
          <ul className="list-disc pl-4">
            {reasons.map(({ filter, reason, nodes: count, nodes_otherwise_fitting: only }) => (
              <li key={filter}>
                {pluralize(count, 'host')}: {reason} {only > 0 && `(the only blocker on ${only})`}
              </li>
            ))}
          </ul>
        )}
      </Notice>
      <Panel title="Hosts, best first" flush>
        {nodes && nodes.length > 0 ? (
          <DataTable label="Hosts" columns={COLUMNS} rows={nodes} rowKey={({ node_id: id }) => id} />
        ) : (
          <p className="p-4 text-sm text-ink-muted">No matching hosts in this region.</p>
        )}
      </Panel>
    </>
  );
}
