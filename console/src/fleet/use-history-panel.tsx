import { useQuery } from '@tanstack/react-query';
import { utilisationHistoryQuery } from '../api/reports.ts';
import { spanOf } from '../format/spans.ts';
import { BarChart } from '../ui/bar-chart.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useNow } from '../ui/use-now.ts';
import { fleetOverTime, type UseAt } from './fleet-over-time.ts';

const HOUR_MS = 3_600_000;
const DATE = 10;

/** How much of the fleet was sold on each of the last thirty days, and how busy that was. */
export function UseHistoryPanel() {
  const { from, to } = spanOf('month', new Date(useNow(HOUR_MS)));
  const query = useQuery(utilisationHistoryQuery({ from, to }, 'day'));
  return (
    <Panel title="Last 30 days">
      <Loaded query={query} loading={<Skeleton label="Loading utilisation" rows={3} />}>
        {(steps) => <Days days={fleetOverTime(steps)} />}
      </Loaded>
    </Panel>
  );
}

function Days({ days }: { days: UseAt[] }) {
  if (days.length === 0) return <p className="text-sm text-ink-muted">The first sample is still to come.</p>;
  const bars = (of: (day: UseAt) => number) =>
    days.map((day) => ({ label: day.at.slice(0, DATE), value: of(day), text: `${Math.round(of(day))}%` }));
  const seen = days.some(({ busyPercent }) => busyPercent !== null);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-muted">Sold, of what may be sold.</p>
      <BarChart label="Sold by day" tone="info" bars={bars(({ soldPercent }) => soldPercent)} />
      {seen && <p className="text-sm text-ink-muted">How busy sold GPUs were, where hosts can see it.</p>}
      {seen && <BarChart label="Busy by day" tone="success" bars={bars((day) => day.busyPercent ?? 0)} />}
    </div>
  );
}
