import type { Allocation } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatClock, formatDuration } from '../format/format-time.ts';
import { useLostAt } from '../live/connection.ts';
import { Figure, Figures } from '../ui/charts/figures.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { isMetered, liveCost } from './live-cost.ts';

interface AllocationSummaryProps {
  allocation: Allocation;
  /** Time of this response: the cost ticks on from there. */
  fetchedAt: number;
}

/** The key figures; the cost ticks while the meter runs. */
export function AllocationSummary({ allocation, fetchedAt }: AllocationSummaryProps) {
  const metered = allocation.accruing;
  const now = useNow(isMetered(allocation) ? 1_000 : null);
  const lostAt = useLostAt();
  const cost = liveCost(allocation, fetchedAt, now);
  return (
    <Figures>
      <Figure name="GPUs" note={allocation.sku}>
        {allocation.gpu_count}
      </Figure>
      <Figure name="Price" note={`${formatMoney(allocation.quote.per_gpu_hour)} per GPU`}>
        {formatMoney(allocation.quote.per_hour)}
        <span className="text-sm font-normal text-ink-muted"> / h</span>
      </Figure>
      <Figure
        name={allocation.release_requested_at ? 'Final cost' : 'Cost so far'}
        note={metered ? (lostAt === null ? 'Billing' : asOf(lostAt)) : meterNote(allocation)}
      >
        <span data-testid="cost-so-far">{metered ? formatMoney(cost, 4) : formatMoney(cost)}</span>
      </Figure>
      <Figure name={allocation.release_requested_at ? 'Ran for' : 'Running for'} note={allocation.image}>
        {runningFor(allocation, now)}
      </Figure>
    </Figures>
  );
}

function asOf(lostAt: number): string {
  return `as of ${formatClock(new Date(lostAt).toISOString())}, offline`;
}

function meterNote({ active_at: activeAt, release_requested_at: releasedAt }: Allocation): string {
  if (releasedAt) return 'Billing stopped at release';
  return activeAt ? 'Not billed' : 'Billing starts when ready';
}

function runningFor(
  { active_at: activeAt, release_requested_at: releasedAt, state }: Allocation,
  now: number,
): string {
  if (!activeAt) return '—';
  const end = releasedAt ? Date.parse(releasedAt) : now;
  return state === 'failed' ? '—' : formatDuration(end - Date.parse(activeAt));
}
