import { useInfiniteQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { ledgerQuery } from '../api/billing.ts';
import type { LedgerTransaction } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

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
  { header: 'Kind', cell: ({ kind }) => <Badge tone={TONES[kind]}>{inWords(kind)}</Badge> },
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
          <EmptyState icon={ReceiptText} title="The ledger is empty">
            Credit, payments and usage appear here as they are posted, and are never changed afterwards.
          </EmptyState>
        }
      />
    </Panel>
  );
}
