import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { StateSelect } from '../allocations/state-select.tsx';
import { ALLOCATION_COLUMNS } from '../allocations/allocation-columns.tsx';
import { operatorAllocationsQuery } from '../api/allocations/operator-allocations.ts';
import type { Allocation } from '../api/types.ts';
import { operatorAllocationsSearch, type OperatorAllocationsSearch } from '../search-params.ts';
import { TenantName } from '../tenants/tenant-name.tsx';
import { TenantSelect } from '../tenants/tenant-select.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';

const route = getRouteApi('/signed-in/operator/allocations');

const COLUMNS: Column<Allocation>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/operator/allocations/$allocationId" params={{ allocationId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  { header: 'Tenant', cell: ({ organization_id: id }) => <TenantName id={id} />, from: 'sm' },
  {
    header: 'Shape',
    cell: ({ capacity_shape: shape }) => (shape === 'baremetal' ? 'Baremetal' : 'Slice'),
    from: 'md',
  },
  ...ALLOCATION_COLUMNS.filter(({ header }) =>
    ['State', 'GPUs', 'Region', 'Price / h', 'Created'].includes(header),
  ),
];

export function OperatorAllocationsPage() {
  const { project: _project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(operatorAllocationsQuery(filter));
  const change = (next: {
    [Name in keyof OperatorAllocationsSearch]?: OperatorAllocationsSearch[Name] | undefined;
  }) => void navigate({ search: (old) => operatorAllocationsSearch({ ...old, ...next }), replace: true });
  return (
    <Page title="Allocations" subtitle="Allocations of all tenants">
      <div className="grid items-end gap-3 sm:grid-cols-2 lg:w-140">
        <TenantSelect value={filter.tenant} none="All tenants" onChange={(tenant) => change({ tenant })} />
        <StateSelect value={filter.state} onChange={(state) => change({ state })} />
      </div>
      <Surface>
        <ResourceList
          label="Allocations"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Boxes} title="No allocations match">
              Change or clear the filter.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}
