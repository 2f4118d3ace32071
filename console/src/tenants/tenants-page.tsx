import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Building2 } from 'lucide-react';
import { tenantsQuery } from '../api/organization/tenants.ts';
import type { Tenant } from '../api/types.ts';
import { pluralize } from '../format/humanize.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const COLUMNS: Column<Tenant>[] = [
  {
    header: 'Tenant',
    cell: ({ id, name }) => (
      <Link to="/operator/tenants/$tenantId" params={{ tenantId: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  {
    header: 'Projects',
    cell: ({ projects }) => (
      <span title={projects.map(({ name }) => name).join(', ')}>{pluralize(projects.length, 'project')}</span>
    ),
    from: 'sm',
  },
  { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'md' },
  { header: 'Id', cell: ({ id }) => <IdText id={id} label="tenant id" />, align: 'right' },
];

export function TenantsPage() {
  const query = useInfiniteQuery(tenantsQuery);
  return (
    <Page title="Tenants" subtitle="Organizations with their credit, quotas and entitlements">
      <Surface>
        <ResourceList
          label="Tenants"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Building2} title="No tenants yet">
              The first one is created at the first sign-in.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}
