import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { revenueQuery } from '../api/reports.ts';
import { MoneyChart } from '../billing/money-chart.tsx';
import { spanOf, SPANS } from '../format/spans.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useNow } from '../ui/use-now.ts';

const route = getRouteApi('/signed-in/operator/utilisation');
const HOUR_MS = 3_600_000;

/** What the platform earned by leases and apps, as the ledger has it. */
export function RevenuePanel() {
  const { time: name = 'month' } = route.useSearch();
  const navigate = route.useNavigate();
  const { from, to, step, steps } = spanOf(name, new Date(useNow(HOUR_MS)));
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
        <Loaded query={query} loading={<Skeleton label="Loading revenue" rows={3} />}>
          {(lines) => <MoneyChart label={`Revenue by ${step}`} steps={steps} lines={lines} />}
        </Loaded>
      </div>
    </Panel>
  );
}
