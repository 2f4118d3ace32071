import { formatMoney, addMoney } from '../format/money.ts';
import { holdsGpus } from '../allocations/holds-gpus.ts';
import { isMetered } from '../allocations/live-cost.ts';
import type { Allocation, Money, Spend } from '../api/types.ts';
import { BALANCE_STATUS } from '../billing/balance-status.ts';
import { formatDuration } from '../format/format-time.ts';
import { pluralize } from '../format/humanize.ts';
import { Figure, Figures } from '../ui/charts/figures.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { useNow } from '../ui/values/use-now.ts';

interface OverviewFiguresProps {
  allocations: Allocation[];
  /** Null for people who may not see spend. */
  spend: Spend[] | null;
}

const MINUTE_MS = 60_000;

/** Running leases, their cost, and how long the balance lasts. */
export function OverviewFigures({ allocations, spend }: OverviewFiguresProps) {
  const now = useNow(MINUTE_MS);
  const held = allocations.filter(holdsGpus);
  const gpus = held.reduce((sum, { gpu_count: count }) => sum + count, 0);
  const balance = spend?.[0];
  return (
    <Figures>
      <Figure name="Running" note={`in ${pluralize(held.length, 'allocation')}`}>
        {pluralize(gpus, 'GPU')}
      </Figure>
      <Figure name="Spend rate" note="this project, now">
        {rateOf(allocations)}
        <span className="text-sm font-normal text-ink-muted"> / h</span>
      </Figure>
      <Figure name="Balance" note={balanceNote(spend)}>
        {balance ? formatMoney(balance.available, 2) : '—'}
      </Figure>
      <Figure
        name="Runs out"
        note={balance?.runs_out_at ? inTime(balance.runs_out_at, now) : 'at the current rate'}
      >
        {balance?.runs_out_at ? <Timestamp at={balance.runs_out_at} as="day" /> : spend ? 'Never' : '—'}
      </Figure>
    </Figures>
  );
}

/** One price per currency, as they would be on the bill. */
function rateOf(allocations: Allocation[]): string {
  const rates = new Map<string, Money>();
  for (const { quote } of allocations.filter(isMetered)) {
    const known = rates.get(quote.per_hour.currency);
    rates.set(quote.per_hour.currency, known ? addMoney(known, quote.per_hour) : quote.per_hour);
  }
  return [...rates.values()].map((rate) => formatMoney(rate)).join(' + ') || formatMoney(NOTHING);
}

const NOTHING: Money = { currency: 'USD', micros: 0 };

function balanceNote(spend: Spend[] | null): string {
  if (!spend) return 'Requires billing.read';
  const [first] = spend;
  return first ? BALANCE_STATUS[first.standing].label : 'No payments yet';
}

function inTime(at: string, now: number): string {
  return `in ${formatDuration(Date.parse(at) - now)}`;
}
