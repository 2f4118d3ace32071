import { useQuery } from '@tanstack/react-query';
import { utilisationHistoryQuery } from '../../api/billing/reports.ts';
import { timeSpan } from '../../format/spans.ts';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { useNow } from '../../ui/values/use-now.ts';
import { fleetOverTime, type UtilisationPoint } from './fleet-over-time.ts';

const HOUR_MS = 3_600_000;
const DATE = 10;

/** Leased share of the fleet on each of the last thirty days, and its utilisation. */
export function UtilisationHistoryPanel() {
  const { from, to } = timeSpan('month', new Date(useNow(HOUR_MS)));
  const query = useQuery(utilisationHistoryQuery({ from, to }, 'day'));
  return (
    <Panel title="Last 30 days">
      <QueryBoundary query={query} loading={<Skeleton label="Loading utilisation" rows={3} />}>
        {(steps) => <Days days={fleetOverTime(steps)} />}
      </QueryBoundary>
    </Panel>
  );
}

function Days({ days }: { days: UtilisationPoint[] }) {
  if (days.length === 0) return <p className="text-sm text-ink-muted">No samples yet.</p>;
  const bars = (of: (day: UtilisationPoint) => number) =>
    days.map((day) => ({ label: day.at.slice(0, DATE), value: of(day), text: `${Math.round(of(day))}%` }));
  const seen = days.some(({ busyPercent }) => busyPercent !== null);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-muted">Share of sellable GPUs sold</p>
      <BarChart label="Sold by day" tone="info" bars={bars(({ soldPercent }) => soldPercent)} />
      {seen && <p className="text-sm text-ink-muted">Utilisation of sold GPUs, where reported</p>}
      {seen && <BarChart label="Busy by day" tone="success" bars={bars((day) => day.busyPercent ?? 0)} />}
    </div>
  );
}
