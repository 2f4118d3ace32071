import { useInfiniteQuery } from '@tanstack/react-query';
import { AppWindow } from 'lucide-react';
import { appUsagePricesQuery, type AppUsagePrice } from '../api/billing/app-usage.ts';
import { DIMENSIONS, formatQuantity } from '../format/dimensions.ts';
import { formatMoney } from '../format/money.ts';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { EffectiveFrom } from './effective-from.tsx';
import { NewAppPrice } from './new-app-price.tsx';

const COLUMNS: Column<AppUsagePrice>[] = [
  { header: 'App', cell: ({ app }) => <span className="font-medium">{app}</span> },
  { header: 'Charged by', cell: ({ dimension }) => DIMENSIONS[dimension].label, from: 'sm' },
  {
    header: 'Price',
    cell: ({ price, per, dimension }) => `${formatMoney(price)} per ${formatQuantity(per, dimension)}`,
    align: 'right',
  },
  { header: 'From', cell: ({ effective_from: at }) => <EffectiveFrom at={at} />, from: 'md' },
];

/** Prices of apps, beside the GPU time of leases. */
export function AppPricesPanel() {
  const query = useInfiniteQuery(appUsagePricesQuery);
  return (
    <Panel title="App prices" aside={<NewAppPrice />} flush>
      <ResourceList
        label="App prices"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={AppWindow} title="No app prices yet">
            Usage without a price is recorded but not charged.
          </EmptyState>
        }
      />
    </Panel>
  );
}
