import { useInfiniteQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { setEntitlement, entitlementsQuery } from '../api/organization/tenants.ts';
import type { SkuEntitlement } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { BeforeAfter } from '../ui/forms/before-after.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';

/** Products that the tenant may buy. */
export function EntitlementsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(entitlementsQuery(organizationId));
  return (
    <Panel title="Entitled" flush>
      <ResourceList
        label="Product entitlements"
        query={query}
        rowKey={({ sku }) => sku}
        columns={[
          { header: 'Product', cell: ({ sku }) => <span className="font-medium">{sku}</span> },
          {
            header: 'State',
            cell: ({ entitled }) => (
              <Badge tone={entitled ? 'success' : 'neutral'}>{entitled ? 'Entitled' : 'Blocked'}</Badge>
            ),
          },
          {
            header: 'Source',
            cell: ({ source }) => (source === 'policy' ? 'Default' : 'Set for this tenant'),
            from: 'md',
          },
          {
            header: 'Actions',
            cell: (one) => <Entitle organizationId={organizationId} entitlement={one} />,
            align: 'right',
          },
        ]}
        empty={
          <EmptyState icon={Package} title="No products yet">
            The catalog is empty.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Entitle({ organizationId, entitlement }: { organizationId: string; entitlement: SkuEntitlement }) {
  const refusal = usePlatformDisabledReason('catalog.manage');
  const { sku, entitled } = entitlement;
  const change = useRefreshingMutation({
    mutationFn: () => setEntitlement({ organizationId, sku, entitled: !entitled }),
    refreshes: [operatorKeys.entitlements(organizationId)],
  });
  return (
    <RowActions>
      <ConfirmButton
        label={entitled ? 'Block' : 'Allow'}
        variant="secondary"
        title={entitled ? `Block ${sku} for this tenant?` : `Allow ${sku} for this tenant?`}
        confirmLabel={entitled ? 'Block' : 'Allow'}
        disabledReason={refusal}
        act={change}
      >
        <BeforeAfter
          before={entitled ? 'Entitled' : 'Blocked'}
          after={entitled ? 'Blocked' : 'Entitled'}
          effects={[
            entitled ? 'New launches of this product are refused.' : 'The tenant can launch this product.',
            'Applies to running leases: no. They continue at their price.',
          ]}
        />
      </ConfirmButton>
    </RowActions>
  );
}
