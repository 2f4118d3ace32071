import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { projectResourceName } from '../../../platform/ids.ts';
import type { ServiceAccountRow } from './find-service-account.ts';
import { first } from '../../../platform/present.ts';

type ServiceAccount = components['schemas']['ServiceAccount'];

const MAX_TOKENS = 100;

/** Service accounts with the tokens that work at `now`. */
export async function describeServiceAccounts(
  tx: Tx,
  rows: readonly ServiceAccountRow[],
  now: Date,
): Promise<ServiceAccount[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const tokens = await tx
    .selectFrom('service_account_tokens')
    .select(['id', 'service_account_id', 'prefix', 'created_at', 'expires_at', 'last_used_at'])
    .where('service_account_id', 'in', ids)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'service_account', row.id),
    organization_id: row.organization_id,
    project_id: row.project_id,
    name: row.name,
    description: row.description,
    owner_user_id: row.owner_user_id,
    state: row.state,
    tokens: tokens
      .filter((token) => token.service_account_id === row.id)
      .slice(0, MAX_TOKENS)
      .map((token) => ({
        id: token.id,
        prefix: token.prefix,
        created_at: token.created_at.toISOString(),
        expires_at: token.expires_at.toISOString(),
        last_used_at: token.last_used_at?.toISOString() ?? null,
      })),
    created_at: row.created_at.toISOString(),
  }));
}

export async function describeServiceAccount(
  tx: Tx,
  row: ServiceAccountRow,
  now: Date,
): Promise<ServiceAccount> {
  return first(await describeServiceAccounts(tx, [row], now), 'service account');
}
