import { useWholeFleet } from '../map/use-whole-fleet.ts';
import { usePlatformDisabledReason } from '../../api/me.ts';
import type { Node } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { Figure, Figures } from '../../ui/charts/figures.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ShareBar } from '../../ui/charts/share-bar.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { RevenuePanel } from './revenue-panel.tsx';
import { UtilisationHistoryPanel } from './utilisation-history-panel.tsx';
import {
  freeByHost,
  fragmentedShare,
  utilisationByRegion,
  type RegionUtilisation,
} from './region-utilisation.ts';

const SIZES = [1, 2, 4, 8];

/** Leased share of the fleet, and the fragmentation of the rest. */
export function UtilisationPage() {
  const query = useWholeFleet();
  const refusal = usePlatformDisabledReason('revenue.read');
  return (
    <Page title="Utilisation" subtitle="Sold, free and fragmented capacity; revenue">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the fleet" rows={6} />}>
        {(nodes) => <Utilisation nodes={nodes} />}
      </QueryBoundary>
      {refusal === null && (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <UtilisationHistoryPanel />
          <RevenuePanel />
        </div>
      )}
    </Page>
  );
}

function Utilisation({ nodes }: { nodes: Node[] }) {
  const regions = utilisationByRegion(nodes);
  const sum = (of: (use: RegionUtilisation) => number) => regions.reduce((total, use) => total + of(use), 0);
  const total = sum((use) => use.total);
  const sold = sum((use) => use.sold);
  const free = sum((use) => use.free);
  return (
    <>
      <Figures>
        <Figure name="Sold" note={`of ${pluralize(total, 'GPU')}`}>
          {percent(total > 0 ? sold / total : null)}
        </Figure>
        <Figure name="Free to sell" note={`on ${pluralize(nodes.length, 'host')}`}>
          {pluralize(free, 'GPU')}
        </Figure>
        <Figure name="Out of service" note="held, cleaning, blocked or disabled">
          {pluralize(total - sold - free, 'GPU')}
        </Figure>
        <Figure name="Fragmented (8-GPU)" note="of free GPUs are on partly used hosts">
          {percent(fragmentedShare(nodes, 8))}
        </Figure>
      </Figures>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="By region">
          <div className="flex flex-col gap-5">
            {regions.map((use) => (
              <div key={use.region} className="flex flex-col gap-2">
                <h3 className="text-sm font-medium">{use.region}</h3>
                <ShareBar label={`Slots of ${use.region}`} parts={partsOf(use)} />
              </div>
            ))}
          </div>
        </Panel>
        <Panel title="Fragmentation">
          <div className="flex flex-col gap-4">
            <p className="text-sm text-ink-muted">Hosts by number of free GPUs</p>
            <BarChart
              label="Hosts by free GPUs"
              tone="info"
              bars={freeByHost(nodes).map((hosts, count) => ({
                label: String(count),
                value: hosts,
                text: hosts.toLocaleString('en-US'),
              }))}
            />
            <dl className="grid grid-cols-4 gap-2 border-t border-line pt-3 text-sm">
              {SIZES.map((size) => (
                <div key={size}>
                  <dt className="text-xs text-ink-faint">Fragmented for {size}</dt>
                  <dd className="font-semibold tabular-nums">{percent(fragmentedShare(nodes, size))}</dd>
                </div>
              ))}
            </dl>
          </div>
        </Panel>
      </div>
    </>
  );
}

function partsOf(use: RegionUtilisation) {
  return [
    { name: 'Sold', value: use.sold, tone: 'info' as const },
    { name: 'Free', value: use.free, tone: 'success' as const },
    { name: 'On hosts out of service', value: use.held, tone: 'violet' as const },
    { name: 'Cleaning', value: use.cleaning, tone: 'warn' as const },
    { name: 'Blocked', value: use.blocked, tone: 'danger' as const },
    { name: 'Disabled', value: use.disabled, tone: 'neutral' as const },
  ];
}

function percent(share: number | null): string {
  return share === null ? '—' : `${Math.round(share * 100)}%`;
}
