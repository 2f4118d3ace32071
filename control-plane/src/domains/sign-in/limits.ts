import { sql } from 'kysely';
import { perTenant, type ResourceLimit } from '../../platform/http/resource-limits.ts';

/** Limits on a tenant's identity providers. */
export const signInLimits: readonly ResourceLimit[] = [
  perTenant(
    'auth.max_identity_providers_per_tenant',
    (id) => sql`select count(*)::int from identity_providers where organization_id = ${id}`,
  ),
  perTenant(
    'auth.max_identity_provider_domains_per_tenant',
    (id) => sql`select count(*)::int from identity_provider_domains where organization_id = ${id}`,
  ),
];
