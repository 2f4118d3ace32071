import { useInfiniteQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { statementsQuery } from '../api/billing/statements.ts';
import type { StatementSummary } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';

const COLUMNS: Column<StatementSummary>[] = [
  {
    header: 'Month',
    cell: ({ month, number }) => <NameWithDetail name={month}>{number}</NameWithDetail>,
  },
  { header: 'Issued', cell: ({ closed_at: at }) => <Timestamp at={at} />, from: 'md' },
  {
    header: 'Opening balance',
    cell: ({ opening_balance: balance }) => formatMoney(balance, 2),
    align: 'right',
    from: 'sm',
  },
  {
    header: 'Closing balance',
    cell: ({ closing_balance: balance }) => formatMoney(balance, 2),
    align: 'right',
  },
  { header: 'Download', cell: (statement) => <Files statement={statement} />, align: 'right' },
];

/** Closed months, which never change. */
export function StatementsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(statementsQuery(organizationId));
  return (
    <Panel title="Statements" flush>
      <ResourceList
        label="Statements"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={FileText} title="No statements yet">
            Statements are issued a few hours after the end of each month (UTC).
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Files({ statement: { id, month } }: { statement: StatementSummary }) {
  return (
    <RowActions>
      {(['pdf', 'csv'] as const).map((kind) => (
        <a
          key={kind}
          href={`/api/v1/billing/statements/${id}/${kind}`}
          download
          aria-label={`Statement of ${month} as ${kind.toUpperCase()}`}
          className={buttonClass({ size: 'sm' })}
        >
          {kind.toUpperCase()}
        </a>
      ))}
    </RowActions>
  );
}
