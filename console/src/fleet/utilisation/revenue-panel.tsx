import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { revenueQuery } from '../../api/billing/reports.ts';
import { MoneyChart } from '../../billing/money-chart.tsx';
import { timeSpan, SPANS } from '../../format/spans.ts';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { useNow } from '../../ui/values/use-now.ts';

const route = getRouteApi('/signed-in/operator/utilisation');
const HOUR_MS = 3_600_000;

/** Revenue of leases and apps, from the ledger. */
export function RevenuePanel() {
  const { time: name = 'month' } = route.useSearch();
  const navigate = route.useNavigate();
  const { from, to, step, steps } = timeSpan(name, new Date(useNow(HOUR_MS)));
  const query = useQuery(revenueQuery({ from, to }, step));
  return (
    <Panel title="Revenue">
      <div className="flex flex-col gap-4">
        <div className="max-w-56">
          <Select
            label="Time of revenue"
            value={name}
            onChange={(time) => void navigate({ search: { time }, replace: true, resetScroll: false })}
            options={SPANS}
          />
        </div>
        <QueryBoundary query={query} loading={<Skeleton label="Loading revenue" rows={3} />}>
          {(lines) => <MoneyChart label={`Revenue by ${step}`} steps={steps} lines={lines} />}
        </QueryBoundary>
      </div>
    </Panel>
  );
}
