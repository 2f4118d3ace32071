import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { platformAuditQuery } from '../api/audit.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { AuditFilter } from './audit-filter.tsx';
import { AUDIT_COLUMNS } from './audit-table.tsx';
import { ChainPanel } from './chain-panel.tsx';

const route = getRouteApi('/signed-in/operator/audit');

export function PlatformAuditPage() {
  const { project: _project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(platformAuditQuery(filter));
  return (
    <Page
      title="Audit log"
      subtitle="Everything that was done or refused on the platform, sealed in a chain."
    >
      <ChainPanel />
      <AuditFilter filter={filter} onChange={(next) => void navigate({ search: next })} />
      <Surface>
        <ResourceList
          label="Audit log"
          query={query}
          columns={AUDIT_COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={ScrollText} title="Nothing matches">
              No entry of the log fits the filter.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}
