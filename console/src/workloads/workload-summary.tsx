import { useQuery } from '@tanstack/react-query';
import { costQuery, usageQuery } from '../api/apps/instances.ts';
import type { AppInstance, AppInstanceCost, Money } from '../api/types.ts';
import { formatDuration } from '../format/format-time.ts';
import { formatMoney } from '../format/money.ts';
import { Figure, Figures } from '../ui/charts/figures.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { hasEnded } from './workload-statuses.ts';

/** The key figures. Requests follow the gateways within seconds; the cost of the machine is that of its bill. */
export function WorkloadSummary({ instance }: { instance: AppInstance }) {
  const { kind, app_slug: slug, app_version: version, allocation_name: machine, ports } = instance;
  const ended = hasEnded(instance);
  const isServed = ports.some(({ protocol }) => protocol === 'http');
  const usage = useQuery({ ...usageQuery(instance), enabled: isServed }).data;
  const cost = useQuery(costQuery(instance)).data;
  const now = useNow(ended ? null : 1_000);
  return (
    <Figures>
      <Figure name="App" note={`${kind === 'job' ? 'Job' : 'Service'}, version ${version}`}>
        {slug}
      </Figure>
      <Figure name={ended ? 'Ran for' : 'Running for'} note={`On ${machine}`}>
        {runningFor(instance, now)}
      </Figure>
      <Figure name="Requests" note={isServed ? 'Counted at the gateway' : 'It serves no requests'}>
        <span data-testid="requests">{usage ? usage.requests.toLocaleString('en-US') : '—'}</span>
      </Figure>
      <Figure name={ended ? 'Cost' : 'Cost so far'} note={cost ? parts(cost) : 'Machine and requests'}>
        <span data-testid="workload-cost">{cost ? costs(cost.totals) : '—'}</span>
      </Figure>
    </Figures>
  );
}

function runningFor({ started_at: startedAt, ended_at: endedAt }: AppInstance, now: number): string {
  if (!startedAt) return '—';
  return formatDuration((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt));
}

/** Where the cost comes from: the share of the machine is a part of the allocation's bill. */
function parts({ lease_share: share, requests }: AppInstanceCost): string {
  const machine = share ? formatMoney(share) : 'nothing';
  return `Share of the machine ${machine}, requests ${costs(requests).toLowerCase()}`;
}

function costs(amounts: Money[]): string {
  return amounts.length === 0 ? 'Free' : amounts.map((amount) => formatMoney(amount)).join(', ');
}
