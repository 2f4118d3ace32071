import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Tag } from 'lucide-react';
import { pricesQuery, withdrawPrice } from '../api/catalog/catalog-admin.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { Price } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney } from '../format/money.ts';
import { TenantSelect } from '../tenants/tenant-select.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { AppPricesPanel } from './app-prices-panel.tsx';
import { EffectiveFrom } from './effective-from.tsx';
import { NewPrice } from './new-price.tsx';

const route = getRouteApi('/signed-in/operator/prices');
const MINUTE_MS = 60_000;

const COLUMNS: Column<Price>[] = [
  { header: 'Product', cell: ({ sku }) => <span className="font-medium">{sku}</span> },
  { header: 'Region', cell: ({ region }) => <span className="text-ink-muted">{region}</span>, from: 'sm' },
  { header: 'Per GPU hour', cell: ({ per_gpu_hour: price }) => formatMoney(price), align: 'right' },
  { header: 'From', cell: ({ effective_from: at }) => <EffectiveFrom at={at} />, from: 'md' },
  {
    header: 'Reason',
    cell: ({ reason }) => <span className="block max-w-64 truncate text-ink-muted">{reason || '—'}</span>,
    from: 'lg',
  },
  { header: 'Actions', cell: (price) => <Withdraw price={price} />, align: 'right' },
];

export function PricesPage() {
  const { tenant } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(pricesQuery(tenant));
  return (
    <Page
      title="Prices"
      subtitle="Price history, newest first. Running leases keep their price."
      actions={<NewPrice organizationId={tenant} />}
    >
      <div className="sm:w-72">
        <TenantSelect
          value={tenant}
          none="List prices"
          onChange={(next) => void navigate({ search: next ? { tenant: next } : {}, replace: true })}
        />
      </div>
      <Surface>
        <ResourceList
          label="Prices"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Tag} title="No prices yet">
              {tenant ? 'This tenant pays list prices.' : 'Add a price to start selling.'}
            </EmptyState>
          }
        />
      </Surface>
      {!tenant && <AppPricesPanel />}
    </Page>
  );
}

function Withdraw({ price }: { price: Price }) {
  const now = useNow(MINUTE_MS);
  const refusal = usePlatformDisabledReason('price.manage');
  const withdraw = useRefreshingMutation({
    mutationFn: () => withdrawPrice(price.id),
    refreshes: [operatorKeys.prices, catalogKeys.skus],
  });
  if (Date.parse(price.effective_from) <= now) return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Withdraw"
        title="Withdraw this price?"
        confirmLabel="Withdraw"
        disabledReason={refusal}
        act={withdraw}
      >
        {formatMoney(price.per_gpu_hour)} will not take effect. The previous price continues.
      </ConfirmButton>
    </RowActions>
  );
}
