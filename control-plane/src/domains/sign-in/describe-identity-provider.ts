import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { tenantResourceName } from '../../platform/ids.ts';
import type { IdentityProviderRow } from './find-identity-provider.ts';
import { verificationRecord } from './verify-domain.ts';

export function describeIdentityProvider(
  row: IdentityProviderRow,
  redirectUri: string,
): components['schemas']['IdentityProvider'] {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'identity_provider', row.id),
    organization_id: row.organization_id,
    name: row.name,
    issuer: row.issuer,
    client_id: row.client_id,
    cli_client_id: row.cli_client_id,
    newcomers_project_id: row.newcomers_project_id,
    enabled: row.enabled,
    redirect_uri: `${redirectUri}/${row.id}`,
    created_at: row.created_at.toISOString(),
  };
}

export interface DomainRow {
  id: string;
  domain: string;
  token: string;
  verified_at: Date | null;
  created_at: Date;
}

export function describeDomain(row: DomainRow): components['schemas']['IdentityProviderDomain'] {
  const { name, value } = verificationRecord(row);
  return {
    id: row.id,
    domain: row.domain,
    record_name: name,
    record_value: value,
    verified_at: row.verified_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
