import { useInfiniteQuery } from '@tanstack/react-query';
import { AppWindow } from 'lucide-react';
import { appUsagePricesQuery, type AppUsagePrice } from '../api/app-usage.ts';
import { DIMENSIONS, formatQuantity } from '../format/dimensions.ts';
import { formatMoney } from '../format/money.ts';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
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

/** What tenants pay for apps, beside the GPU time that their leases pay for. */
export function AppPricesPanel() {
  const query = useInfiniteQuery(appUsagePricesQuery);
  return (
    <Panel title="Prices of app usage" aside={<NewAppPrice />} flush>
      <ResourceList
        label="Prices of app usage"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={AppWindow} title="No app has a price">
            What producers report is recorded all the same, and not charged.
          </EmptyState>
        }
      />
    </Panel>
  );
}
