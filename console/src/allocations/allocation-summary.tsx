import type { Allocation } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';
import { Figure, Figures } from '../ui/figures.tsx';
import { useNow } from '../ui/use-now.ts';
import { costNow, isMetered } from './cost-now.ts';

interface AllocationSummaryProps {
  allocation: Allocation;
  /** When this answer came: the cost ticks on from there. */
  fetchedAt: number;
}

/** The figures one looks for first; the cost ticks while the meter runs. */
export function AllocationSummary({ allocation, fetchedAt }: AllocationSummaryProps) {
  const metered = isMetered(allocation);
  const now = useNow(metered ? 1_000 : null);
  const cost = costNow(allocation, fetchedAt, now);
  return (
    <Figures>
      <Figure name="GPUs" note={allocation.sku}>
        {allocation.gpu_count}
      </Figure>
      <Figure name="Price" note={`${formatMoney(allocation.quote.per_gpu_hour)} per GPU`}>
        {formatMoney(allocation.quote.per_hour)}
        <span className="text-sm font-normal text-ink-muted"> / h</span>
      </Figure>
      <Figure name="Cost so far" note={metered ? 'The meter is running' : meterNote(allocation)}>
        <span data-testid="cost-so-far">{metered ? formatMoney(cost, 4) : formatMoney(cost)}</span>
      </Figure>
      <Figure name="Running for" note={allocation.image}>
        {runningFor(allocation, now)}
      </Figure>
    </Figures>
  );
}

function meterNote({ active_at: activeAt, release_requested_at: releasedAt }: Allocation): string {
  if (releasedAt) return 'The meter stopped at the release';
  return activeAt ? 'The meter is stopped' : 'The meter starts when it is active';
}

function runningFor(
  { active_at: activeAt, release_requested_at: releasedAt, state }: Allocation,
  now: number,
): string {
  if (!activeAt) return '—';
  const end = releasedAt ? Date.parse(releasedAt) : now;
  return state === 'failed' ? '—' : formatDuration(end - Date.parse(activeAt));
}
