import { useInfiniteQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { ledgerQuery } from '../api/billing/billing.ts';
import type { LedgerTransaction } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';

const TONES: Record<LedgerTransaction['kind'], Tone> = {
  credit: 'success',
  payment: 'success',
  refund: 'violet',
  adjustment: 'violet',
  usage: 'info',
  usage_correction: 'warn',
  app_usage: 'info',
  dispute: 'danger',
};

const COLUMNS: Column<LedgerTransaction>[] = [
  { header: 'Posted', cell: ({ posted_at: at }) => <Timestamp at={at} as="clock" /> },
  { header: 'Kind', cell: ({ kind }) => <Badge tone={TONES[kind]}>{humanize(kind)}</Badge> },
  {
    header: 'Reason',
    cell: ({ reason }) => (
      <span title={reason} className="block max-w-96 truncate text-ink-muted">
        {reason}
      </span>
    ),
    from: 'md',
  },
  { header: 'Id', cell: ({ id }) => <IdText id={id} label="transaction id" />, from: 'lg' },
  {
    header: 'Amount',
    cell: ({ amount }) => (
      <span className={amount.micros < 0 ? '' : 'tone-success text-tone-text'}>{formatMoney(amount)}</span>
    ),
    align: 'right',
  },
];

export function LedgerPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(ledgerQuery(organizationId));
  return (
    <Panel title="Ledger" flush>
      <ResourceList
        label="Ledger"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={ReceiptText} title="No transactions yet">
            Credits, payments and usage appear here. Entries are never changed.
          </EmptyState>
        }
      />
    </Panel>
  );
}
