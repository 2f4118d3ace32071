import { useInfiniteQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { entitle, entitlementsQuery } from '../api/tenants.ts';
import type { SkuEntitlement } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';

/** What the tenant may buy. */
export function EntitlementsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(entitlementsQuery(organizationId));
  return (
    <Panel title="May buy" flush>
      <ResourceList
        label="Products the tenant may buy"
        query={query}
        rowKey={({ sku }) => sku}
        columns={[
          { header: 'Product', cell: ({ sku }) => <span className="font-medium">{sku}</span> },
          {
            header: 'State',
            cell: ({ entitled }) => (
              <Badge tone={entitled ? 'success' : 'neutral'}>{entitled ? 'May buy' : 'May not buy'}</Badge>
            ),
          },
          {
            header: 'Because of',
            cell: ({ source }) => (source === 'policy' ? 'The default' : 'What was set for it'),
            from: 'md',
          },
          {
            header: 'Actions',
            cell: (one) => <Entitle organizationId={organizationId} entitlement={one} />,
            align: 'right',
          },
        ]}
        empty={
          <EmptyState icon={Package} title="There is no product">
            The catalogue is empty.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Entitle({ organizationId, entitlement }: { organizationId: string; entitlement: SkuEntitlement }) {
  const refusal = usePlatformRefusal('catalog.manage');
  const { sku, entitled } = entitlement;
  const change = useChange({
    mutationFn: () => entitle({ organizationId, sku, entitled: !entitled }),
    refreshes: [operatorKeys.entitlements(organizationId)],
  });
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} busy={change.isPending} onClick={() => change.mutate()}>
        {entitled ? 'Withhold' : 'Allow'}
      </Button>
    </RowActions>
  );
}
