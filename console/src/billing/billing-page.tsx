import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { balanceQuery, ledgerQuery } from '../api/billing.ts';
import type { LedgerTransaction } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { inWords } from '../format/words.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

const TONES: Record<LedgerTransaction['kind'], Tone> = {
  credit: 'success',
  payment: 'success',
  refund: 'violet',
  adjustment: 'violet',
  usage: 'info',
  usage_correction: 'warn',
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

export function BillingPage() {
  return (
    <ProjectPage
      title="Billing"
      subtitle={({ organization }) => `What ${organization.name} has, and every movement of it.`}
    >
      {({ organization }) => (
        <>
          <BalancePanel organizationId={organization.id} />
          <LedgerPanel organizationId={organization.id} />
        </>
      )}
    </ProjectPage>
  );
}

function BalancePanel({ organizationId }: { organizationId: string }) {
  const query = useQuery(balanceQuery(organizationId));
  return (
    <Panel title="Balance">
      <Loaded query={query} loading={<Skeleton label="Loading the balance" rows={1} />}>
        {({ balances, as_of: at }) => (
          <div className="flex flex-col gap-1">
            {balances.length === 0 && <p className="text-ink-muted">Nothing was posted yet.</p>}
            {balances.map((money) => (
              <p
                key={money.currency}
                className={`text-3xl font-semibold tracking-tight tabular-nums ${money.micros < 0 ? 'tone-danger text-tone-text' : ''}`}
              >
                {formatMoney(money, 2)}
              </p>
            ))}
            <p className="text-sm text-ink-muted">
              As of <Timestamp at={at} as="clock" />
            </p>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function LedgerPanel({ organizationId }: { organizationId: string }) {
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
