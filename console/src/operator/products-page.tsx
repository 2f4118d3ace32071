import { useInfiniteQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { openProduct, productsQuery } from '../api/products.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { AdminSku } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
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
    <Page title="Products" subtitle="What tenants can launch.">
      <Surface>
        <ResourceList
          label="Products"
          query={query}
          columns={COLUMNS}
          rowKey={({ sku }) => sku}
          empty={
            <EmptyState icon={Package} title="There is no product">
              The catalogue is empty.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function OpenOrClose({ product }: { product: AdminSku }) {
  const refusal = usePlatformRefusal('catalog.manage');
  const change = useChange({
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
          Nobody can launch it any more. What runs goes on, and it can be opened again.
        </ConfirmButton>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={change.isPending} onClick={() => change.mutate()}>
          Open
        </Button>
      )}
    </RowActions>
  );
}
