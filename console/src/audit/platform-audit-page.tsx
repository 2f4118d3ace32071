import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { platformAuditQuery } from '../api/operations/audit.ts';
import { Page } from '../ui/page.tsx';
import { AuditEntries } from './audit-entries.tsx';
import { ChainPanel } from './chain-panel.tsx';

const route = getRouteApi('/signed-in/operator/audit');

export function PlatformAuditPage() {
  const { project: _project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(platformAuditQuery(filter));
  return (
    <Page
      title="Audit log"
      subtitle="All actions and denied attempts on the platform, sealed in a hash chain"
    >
      <ChainPanel />
      <AuditEntries query={query} filter={filter} onFilter={(next) => void navigate({ search: next })} />
    </Page>
  );
}
