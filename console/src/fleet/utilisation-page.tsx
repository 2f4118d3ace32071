import { useWholeFleet } from './use-whole-fleet.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Node } from '../api/types.ts';
import { counted } from '../format/words.ts';
import { BarChart } from '../ui/bar-chart.tsx';
import { Figure, Figures } from '../ui/figures.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShareBar } from '../ui/share-bar.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { RevenuePanel } from './revenue-panel.tsx';
import { UseHistoryPanel } from './use-history-panel.tsx';
import { freeByHost, strandedFor, fleetByUse, type RegionUse } from './fleet-use.ts';

const SIZES = [1, 2, 4, 8];

/** How much of the fleet is sold, and how well what is left can still be. */
export function UtilisationPage() {
  const query = useWholeFleet();
  const refusal = usePlatformRefusal('revenue.read');
  return (
    <Page
      title="Utilisation"
      subtitle="What is sold, whether what is free can still be used, and what it brings."
    >
      <Loaded query={query} loading={<Skeleton label="Loading the fleet" rows={6} />}>
        {(nodes) => <Utilisation nodes={nodes} />}
      </Loaded>
      {refusal === null && (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <UseHistoryPanel />
          <RevenuePanel />
        </div>
      )}
    </Page>
  );
}

function Utilisation({ nodes }: { nodes: Node[] }) {
  const regions = fleetByUse(nodes);
  const sum = (of: (use: RegionUse) => number) => regions.reduce((total, use) => total + of(use), 0);
  const total = sum((use) => use.total);
  const sold = sum((use) => use.sold);
  const free = sum((use) => use.free);
  return (
    <>
      <Figures>
        <Figure name="Sold" note={`of ${counted(total, 'GPU')}`}>
          {percent(total > 0 ? sold / total : null)}
        </Figure>
        <Figure name="Free to sell" note={`on ${counted(nodes.length, 'host')}`}>
          {counted(free, 'GPU')}
        </Figure>
        <Figure name="Out of sale" note="held, cleaning, blocked or disabled">
          {counted(total - sold - free, 'GPU')}
        </Figure>
        <Figure name="Stranded for 8" note="of the free GPUs, because they are scattered">
          {percent(strandedFor(nodes, 8))}
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
            <p className="text-sm text-ink-muted">Hosts by the number of GPUs that are free on them.</p>
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
                  <dt className="text-xs text-ink-faint">Stranded for {size}</dt>
                  <dd className="font-semibold tabular-nums">{percent(strandedFor(nodes, size))}</dd>
                </div>
              ))}
            </dl>
          </div>
        </Panel>
      </div>
    </>
  );
}

function partsOf(use: RegionUse) {
  return [
    { name: 'Sold', value: use.sold, tone: 'info' as const },
    { name: 'Free', value: use.free, tone: 'success' as const },
    { name: 'On hosts out of sale', value: use.held, tone: 'violet' as const },
    { name: 'Cleaning', value: use.cleaning, tone: 'warn' as const },
    { name: 'Blocked', value: use.blocked, tone: 'danger' as const },
    { name: 'Disabled', value: use.disabled, tone: 'neutral' as const },
  ];
}

function percent(share: number | null): string {
  return share === null ? '—' : `${Math.round(share * 100)}%`;
}
