import { useInfiniteQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { NameAndId, OpenOrClose } from '../catalog/open-or-close.tsx';
import { openProduct, productsQuery } from '../api/catalog/products.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import type { AdminSku } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';

const COLUMNS: Column<AdminSku>[] = [
  {
    header: 'Product',
    cell: ({ display_name: name, sku }) => <NameAndId name={name} id={sku} />,
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
  { header: 'Actions', cell: (product) => <OpenOrCloseProduct product={product} />, align: 'right' },
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

function OpenOrCloseProduct({ product }: { product: AdminSku }) {
  const change = useRefreshingMutation({
    mutationFn: () => openProduct({ sku: product.sku, enabled: !product.enabled }),
    refreshes: [operatorKeys.products, catalogKeys.skus],
  });
  return <OpenOrClose name={product.display_name} open={product.enabled} change={change} />;
}
