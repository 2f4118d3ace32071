import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { decodePage, toPage } from '../../platform/http/page.ts';
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
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  return toPage(rows, query.limit, (row) => [row.id]);
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
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  return toPage(rows, query.limit, (row) => [row.id]);
}
