import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';

/** All columns except the sealed secret, which a tenant's request cannot read. */
export const PROVIDER_COLUMNS = [
  'id',
  'organization_id',
  'name',
  'issuer',
  'client_id',
  'cli_client_id',
  'newcomers_project_id',
  'enabled',
  'created_at',
] as const;

export interface IdentityProviderRow {
  id: string;
  organization_id: string;
  name: string;
  issuer: string;
  client_id: string;
  cli_client_id: string | null;
  newcomers_project_id: string | null;
  enabled: boolean;
  created_at: Date;
}

/** A provider that the caller may change; any other one is answered like a missing one. */
export async function findIdentityProvider(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  id: string,
): Promise<IdentityProviderRow> {
  const row = await tx
    .selectFrom('identity_providers')
    .select(PROVIDER_COLUMNS)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound();
  authorize(caller, permission, { kind: 'tenant', organizationId: row.organization_id });
  return row;
}
