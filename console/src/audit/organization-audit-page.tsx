import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { organizationAuditQuery } from '../api/operations/audit.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { AuditEntries } from './audit-entries.tsx';

const route = getRouteApi('/signed-in/organization/audit');

export function OrganizationAuditPage() {
  return (
    <ProjectPage
      title="Audit log"
      subtitle={({ organization }) => `All actions and denied attempts in ${organization.name}`}
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
    <AuditEntries
      query={query}
      filter={filter}
      onFilter={(next) => void navigate({ search: { ...next, ...(project ? { project } : {}) } })}
    />
  );
}
