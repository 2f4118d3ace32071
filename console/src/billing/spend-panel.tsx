import { useQuery } from '@tanstack/react-query';
import { spendQuery } from '../api/billing.ts';
import type { Spend } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { Badge } from '../ui/badge.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { STANDINGS } from './standings.ts';

/** What is there, how fast it goes, and what happens at the end of it. */
export function SpendPanel({ organizationId }: { organizationId: string }) {
  const query = useQuery(spendQuery(organizationId));
  return (
    <Panel title="Balance">
      <Loaded query={query} loading={<Skeleton label="Loading the balance" rows={2} />}>
        {({ spend, as_of: at }) => (
          <div className="flex flex-col gap-5">
            {spend.length === 0 && (
              <p className="text-sm text-ink-muted">Nothing was paid in or credited yet.</p>
            )}
            {spend.map((one) => (
              <SpendOfCurrency key={one.balance.currency} spend={one} />
            ))}
            <p className="text-xs text-ink-faint">
              As of <Timestamp at={at} as="clock" />
            </p>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function SpendOfCurrency({ spend }: { spend: Spend }) {
  const { label, tone } = STANDINGS[spend.standing];
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
        <Fact name="Spent now">{formatMoney(spend.per_hour)} an hour</Fact>
        <Fact name="Runs out">
          {spend.runs_out_at ? <Timestamp at={spend.runs_out_at} /> : 'Not while nothing runs'}
        </Fact>
        {spend.stops_at && (
          <Fact name="Leases stop">
            <Timestamp at={spend.stops_at} />
          </Fact>
        )}
        {spend.credit_line.micros > 0 && <Fact name="Credit line">{formatMoney(spend.credit_line)}</Fact>}
        <Fact name="At zero">{spend.at_zero}</Fact>
      </Facts>
    </div>
  );
}
