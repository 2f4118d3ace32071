import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { utilisationHistoryQuery, type UtilisationStep } from '../../api/billing/reports.ts';
import { timeSpan } from '../../format/spans.ts';
import type { ChartData } from '../../ui/charts/chart-series.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
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
        {(steps) => <Days steps={steps} />}
      </QueryBoundary>
    </Panel>
  );
}

const PERCENT: [number, number] = [0, 100];
const format = (value: number) => `${Math.round(value)}%`;
const nameTime = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, DATE);

function Days({ steps }: { steps: UtilisationStep[] }) {
  // A plot is drawn again when its data changes, so equal data must stay the same object.
  const days = useMemo(() => fleetOverTime(steps), [steps]);
  const chart = useMemo(() => chartOf(days), [days]);
  if (days.length === 0) return <p className="text-sm text-ink-muted">No samples yet.</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-ink-muted">
        Share of sellable GPUs sold, and utilisation of sold GPUs where hosts report it
      </p>
      <TimeChart
        label="Sold and busy by day"
        kind="line"
        range={PERCENT}
        format={format}
        nameTime={nameTime}
        {...chart}
      />
    </div>
  );
}

function chartOf(days: UtilisationPoint[]): ChartData {
  return {
    times: days.map(({ at }) => Date.parse(at) / 1000),
    series: [
      { name: 'Sold', tone: 'info', values: days.map(({ soldPercent }) => soldPercent) },
      { name: 'Busy', tone: 'success', values: days.map(({ busyPercent }) => busyPercent) },
    ],
  };
}
