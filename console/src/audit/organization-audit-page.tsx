import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { organizationAuditQuery } from '../api/audit.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { AuditFilter } from './audit-filter.tsx';
import { AUDIT_COLUMNS } from './audit-table.tsx';

const route = getRouteApi('/signed-in/organization/audit');

export function OrganizationAuditPage() {
  return (
    <ProjectPage
      title="Audit log"
      subtitle={({ organization }) => `Everything that was done or refused in ${organization.name}.`}
    >
      {({ organization }) => <OrganizationAudit organizationId={organization.id} />}
    </ProjectPage>
  );
}

function OrganizationAudit({ organizationId }: { organizationId: string }) {
  const { project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(organizationAuditQuery(organizationId, filter));
  return (
    <>
      <AuditFilter
        filter={filter}
        onChange={(next) => void navigate({ search: { ...next, ...(project ? { project } : {}) } })}
      />
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
    </>
  );
}
