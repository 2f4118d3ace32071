import type { Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import type { DomainRow } from './describe-identity-provider.ts';
import { PROVIDER_COLUMNS, type IdentityProviderRow } from './find-identity-provider.ts';

interface PageQuery {
  limit: number;
  page?: string;
}

export async function listIdentityProviders(
  tx: Tx,
  organizationId: string,
  query: PageQuery,
): Promise<{ rows: IdentityProviderRow[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('identity_providers')
    .select(PROVIDER_COLUMNS)
    .where('organization_id', '=', organizationId)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  return pageOf(rows, query.limit, (row) => [row.id]);
}

export async function listDomains(
  tx: Tx,
  identityProviderId: string,
  query: PageQuery,
): Promise<{ rows: DomainRow[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('identity_provider_domains')
    .selectAll()
    .where('identity_provider_id', '=', identityProviderId)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  return pageOf(rows, query.limit, (row) => [row.id]);
}
