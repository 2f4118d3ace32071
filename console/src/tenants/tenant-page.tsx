import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { tenantsQuery } from '../api/organization/tenants.ts';
import type { Tenant } from '../api/types.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { AdjustLedger } from './adjust-ledger.tsx';
import { EntitlementsPanel } from './entitlements-panel.tsx';
import { QuotasPanel } from './quotas-panel.tsx';

const route = getRouteApi('/signed-in/operator/tenants/$tenantId');

export function TenantPage() {
  const { tenantId } = route.useParams();
  const query = useInfiniteQuery(tenantsQuery);
  return (
    <QueryBoundary query={query} loading={<Skeleton label="Loading the tenant" />}>
      {(tenants) => {
        const tenant = tenants.find(({ id }) => id === tenantId);
        return tenant ? <TenantDetail tenant={tenant} /> : <NotFound what="tenant" />;
      }}
    </QueryBoundary>
  );
}

function TenantDetail({ tenant }: { tenant: Tenant }) {
  return (
    <Page
      title={tenant.name}
      subtitle={
        <>
          Since <Timestamp at={tenant.created_at} />, projects{' '}
          {tenant.projects.map(({ name }) => name).join(', ') || 'none'}
        </>
      }
      actions={
        <>
          <Link
            to="/operator/allocations"
            search={{ tenant: tenant.id }}
            className={buttonClass({ variant: 'secondary' })}
          >
            Allocations
          </Link>
          <AdjustLedger tenant={tenant} />
        </>
      }
    >
      <QuotasPanel tenant={tenant} />
      <EntitlementsPanel organizationId={tenant.id} />
    </Page>
  );
}
