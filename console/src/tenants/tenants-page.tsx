import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Building2 } from 'lucide-react';
import { tenantsQuery } from '../api/tenants.ts';
import type { Tenant } from '../api/types.ts';
import { counted } from '../format/words.ts';
import { ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

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
      <span title={projects.map(({ name }) => name).join(', ')}>{counted(projects.length, 'project')}</span>
    ),
    from: 'sm',
  },
  { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'md' },
  { header: 'Id', cell: ({ id }) => <IdText id={id} label="tenant id" />, align: 'right' },
];

export function TenantsPage() {
  const query = useInfiniteQuery(tenantsQuery);
  return (
    <Page title="Tenants" subtitle="Every organization, its credit, its quotas and what it may buy.">
      <Surface>
        <ResourceList
          label="Tenants"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Building2} title="There is no tenant">
              The first one appears when somebody signs in.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}
