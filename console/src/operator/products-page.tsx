import { useInfiniteQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { openProduct, productsQuery } from '../api/catalog/products.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { AdminSku } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';

const COLUMNS: Column<AdminSku>[] = [
  {
    header: 'Product',
    cell: ({ display_name: name, sku }) => (
      <span className="flex flex-col">
        <span className="font-medium">{name}</span>
        <code className="font-mono text-xs text-ink-faint">{sku}</code>
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'success' : 'neutral'}>{enabled ? 'For sale' : 'Closed'}</Badge>
    ),
  },
  {
    header: 'GPUs',
    cell: ({ gpu_model: model, allowed_gpu_counts: counts }) => (
      <span className="text-ink-muted">
        {model}, {counts.join(' ')}
      </span>
    ),
    from: 'md',
  },
  {
    header: 'With each GPU',
    cell: ({ resource_profile: profile }) => (
      <span className="text-ink-muted">
        {profile.vcpu_per_gpu} vCPU, {profile.memory_gib_per_gpu} GiB
      </span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (product) => <OpenOrClose product={product} />, align: 'right' },
];

export function ProductsPage() {
  const query = useInfiniteQuery(productsQuery);
  return (
    <Page title="Products" subtitle="Products tenants can launch">
      <Surface>
        <ResourceList
          label="Products"
          query={query}
          columns={COLUMNS}
          rowKey={({ sku }) => sku}
          empty={
            <EmptyState icon={Package} title="No products yet">
              The catalog is empty.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function OpenOrClose({ product }: { product: AdminSku }) {
  const refusal = usePlatformDisabledReason('catalog.manage');
  const change = useRefreshingMutation({
    mutationFn: () => openProduct({ sku: product.sku, enabled: !product.enabled }),
    refreshes: [operatorKeys.products, catalogKeys.skus],
  });
  return (
    <RowActions>
      {product.enabled ? (
        <ConfirmButton
          label="Close"
          title={`Close ${product.display_name}?`}
          confirmLabel="Close"
          disabledReason={refusal}
          act={change}
        >
          New launches are blocked. Running machines continue, and you can reopen it.
        </ConfirmButton>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={change.isPending} onClick={() => change.mutate()}>
          Open
        </Button>
      )}
    </RowActions>
  );
}
