import { useInfiniteQuery } from '@tanstack/react-query';
import { CreditCard } from 'lucide-react';
import { paymentsQuery } from '../api/billing/payments.ts';
import type { Payment } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';
import { AutoTopUpButton } from './auto-top-up.tsx';
import { ResumePayment, TopUpButton } from './top-up.tsx';

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
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{humanize(state)}</Badge> },
  {
    header: 'For',
    cell: ({ purpose }) => <span className="text-ink-muted">{humanize(purpose)}</span>,
    from: 'md',
  },
  {
    header: 'Details',
    cell: ({ failure, reference }) => (
      <span className="block max-w-80 truncate text-ink-muted" title={failure?.detail ?? undefined}>
        {failure?.detail ?? reference ?? '—'}
      </span>
    ),
    from: 'lg',
  },
  { header: 'Amount', cell: ({ amount }) => formatMoney(amount), align: 'right' },
  { header: 'Actions', cell: (payment) => <ResumePayment payment={payment} />, align: 'right' },
];

/** Payments so far, and ways to pay. */
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
          <EmptyState icon={CreditCard} title="No payments yet">
            Your balance updates once a payment clears.
          </EmptyState>
        }
      />
    </Panel>
  );
}
