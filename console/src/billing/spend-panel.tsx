import { useQuery } from '@tanstack/react-query';
import { spendQuery } from '../api/billing/billing.ts';
import type { Spend } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { BALANCE_STATUS } from './balance-status.ts';

/** Balance, burn rate, and the consequence of an empty balance. */
export function SpendPanel({ organizationId }: { organizationId: string }) {
  const query = useQuery(spendQuery(organizationId));
  return (
    <Panel title="Balance">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the balance" rows={2} />}>
        {({ spend, as_of: at }) => (
          <div className="flex flex-col gap-5">
            {spend.length === 0 && <p className="text-sm text-ink-muted">No payments or credits yet.</p>}
            {spend.map((one) => (
              <SpendOfCurrency key={one.balance.currency} spend={one} />
            ))}
            <p className="text-xs text-ink-faint">
              As of <Timestamp at={at} as="clock" />
            </p>
          </div>
        )}
      </QueryBoundary>
    </Panel>
  );
}

function SpendOfCurrency({ spend }: { spend: Spend }) {
  const { label, tone } = BALANCE_STATUS[spend.standing];
  return (
    <div className="grid items-start gap-4 sm:grid-cols-[auto_1fr] sm:gap-10">
      <div className="flex flex-col gap-1.5">
        <p className="text-3xl font-semibold tracking-tight tabular-nums">
          {formatMoney(spend.available, 2)}
        </p>
        <span>
          <Badge tone={tone}>{label}</Badge>
        </span>
      </div>
      <Facts>
        <Fact name="Spend rate">{formatMoney(spend.per_hour)} per hour</Fact>
        <Fact name="Runs out">
          {spend.runs_out_at ? <Timestamp at={spend.runs_out_at} /> : 'Nothing is running'}
        </Fact>
        {spend.stops_at && (
          <Fact name="Leases stop">
            <Timestamp at={spend.stops_at} />
          </Fact>
        )}
        {spend.held_for_reservations.micros > 0 && (
          <Fact name="Held for reservations">{formatMoney(spend.held_for_reservations)}</Fact>
        )}
        {spend.credit_line.micros > 0 && <Fact name="Credit line">{formatMoney(spend.credit_line)}</Fact>}
        <Fact name="When the balance is used up">{spend.at_zero}</Fact>
      </Facts>
    </div>
  );
}
