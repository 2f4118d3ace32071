import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../api/apps/instances.ts';
import type { AppInstance, Money } from '../api/types.ts';
import { formatDuration } from '../format/format-time.ts';
import { formatMoney } from '../format/money.ts';
import { Figure, Figures } from '../ui/charts/figures.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { hasEnded } from './workload-statuses.ts';

/** The key figures. Requests and their cost follow the gateways within seconds. */
export function WorkloadSummary({ instance }: { instance: AppInstance }) {
  const { kind, app_slug: slug, app_version: version, allocation_name: machine, ports } = instance;
  const ended = hasEnded(instance);
  const isServed = ports.some(({ protocol }) => protocol === 'http');
  const usage = useQuery({ ...usageQuery(instance), enabled: isServed }).data;
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
      <Figure name="Cost of requests" note="The machine is billed with its allocation">
        <span data-testid="request-cost">{usage ? costs(usage.costs) : '—'}</span>
      </Figure>
    </Figures>
  );
}

function runningFor({ started_at: startedAt, ended_at: endedAt }: AppInstance, now: number): string {
  if (!startedAt) return '—';
  return formatDuration((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt));
}

function costs(amounts: Money[]): string {
  return amounts.length === 0 ? 'Free' : amounts.map((amount) => formatMoney(amount)).join(', ');
}
