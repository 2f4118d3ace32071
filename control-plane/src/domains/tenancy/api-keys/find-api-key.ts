import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, isScoped, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { ApiKeys } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

export type ApiKeyRow = Omit<Selectable<ApiKeys>, 'secret_hash'>;
type ApiKey = components['schemas']['ApiKey'];

/** All columns except the secret's hash. */
export const API_KEY_COLUMNS = [
  'id',
  'user_id',
  'organization_id',
  'name',
  'prefix',
  'scopes',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
] as const;

/** A key of the caller, or of a member if the caller holds the permission. */
export async function findApiKey(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  keyId: string,
): Promise<ApiKeyRow> {
  const row = await tx
    .selectFrom('api_keys')
    .select(API_KEY_COLUMNS)
    .where('id', '=', keyId)
    .executeTakeFirst();
  if (!row) throw notFound();
  if (row.user_id === caller.userId && !isScoped(caller)) {
    caller.authorised = true;
    return row;
  }
  if (row.organization_id === null) throw notFound();
  authorize(caller, permission, { kind: 'tenant', organizationId: row.organization_id });
  return row;
}

export function describeApiKey(row: ApiKeyRow, now: Date): ApiKey {
  return {
    id: row.id,
    resource_name:
      row.organization_id === null ? null : tenantResourceName(row.organization_id, 'api_key', row.id),
    organization_id: row.organization_id,
    user_id: row.user_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    state: stateOf(row, now),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

function stateOf(row: ApiKeyRow, now: Date): ApiKey['state'] {
  if (row.revoked_at) return 'revoked';
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active';
}
