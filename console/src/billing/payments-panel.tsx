import { useInfiniteQuery } from '@tanstack/react-query';
import { CreditCard } from 'lucide-react';
import { paymentsQuery } from '../api/payments.ts';
import type { Payment } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';
import { AutoTopUpButton } from './auto-top-up.tsx';
import { PayOpen, TopUpButton } from './top-up.tsx';

const TONES: Record<Payment['state'], Tone> = {
  created: 'info',
  open: 'warn',
  processing: 'info',
  succeeded: 'success',
  failed: 'danger',
  expired: 'neutral',
};

const COLUMNS: Column<Payment>[] = [
  { header: 'When', cell: ({ created_at: at }) => <Timestamp at={at} as="clock" /> },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{inWords(state)}</Badge> },
  {
    header: 'For',
    cell: ({ purpose }) => <span className="text-ink-muted">{inWords(purpose)}</span>,
    from: 'md',
  },
  {
    header: 'What happened',
    cell: ({ failure, reference }) => (
      <span className="block max-w-80 truncate text-ink-muted" title={failure?.detail ?? undefined}>
        {failure?.detail ?? reference ?? '—'}
      </span>
    ),
    from: 'lg',
  },
  { header: 'Amount', cell: ({ amount }) => formatMoney(amount), align: 'right' },
  { header: 'Actions', cell: (payment) => <PayOpen payment={payment} />, align: 'right' },
];

/** What was paid in, and the ways to pay more. */
export function PaymentsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(paymentsQuery(organizationId));
  return (
    <Panel
      title="Payments"
      flush
      aside={
        <span className="flex flex-wrap gap-2">
          <AutoTopUpButton organizationId={organizationId} />
          <TopUpButton organizationId={organizationId} />
        </span>
      }
    >
      <ResourceList
        label="Payments"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={CreditCard} title="Nothing was paid in yet">
            Top up the balance; it rises when the provider says that the money has come.
          </EmptyState>
        }
      />
    </Panel>
  );
}
