import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/problem.ts';
import { requireOrganization } from '../tenancy/organizations/require-organization.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { first } from '../../platform/present.ts';

type SkuEntitlement = components['schemas']['SkuEntitlement'];

/** Whether the tenant may buy the product: its own setting, else the policy. */
export async function isEntitled(
  policies: Policies,
  db: Db | Tx,
  organizationId: string,
  sku: string,
): Promise<boolean> {
  const set = await setEntitlements(db, organizationId);
  return set.get(sku) ?? policies.get('catalog.entitled_by_default', { organizationId });
}

/** The tenant's own settings, by product. */
export async function setEntitlements(db: Db | Tx, organizationId: string): Promise<Map<string, boolean>> {
  const rows = await db
    .selectFrom('sku_entitlements')
    .select(['sku', 'entitled'])
    .where('organization_id', '=', organizationId)
    .execute();
  return new Map(rows.map((row) => [row.sku, row.entitled]));
}

/** Every product, and whether the tenant may buy it. */
export async function listEntitlements(
  policies: Policies,
  tx: Tx,
  organizationId: string,
  query: { limit: number; page?: string; sku?: string },
): Promise<Page<SkuEntitlement>> {
  await requireOrganization(tx, organizationId);
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('sku_catalog as s')
    .leftJoin('sku_entitlements as e', (join) =>
      join.onRef('e.sku', '=', 's.sku').on('e.organization_id', '=', organizationId),
    )
    .select(['s.sku', 'e.entitled', 'e.reason'])
    .$call(given(query.sku, (q, sku) => q.where('s.sku', '=', sku)))
    .$call(fromCursor(after, (q, [sku]) => q.where('s.sku', '>', sku)))
    .orderBy('s.sku')
    .limit(query.limit + 1)
    .execute();
  const byDefault = policies.get('catalog.entitled_by_default', { organizationId });
  const page = toPage(rows, query.limit, (row) => [row.sku]);
  const items = page.rows.map((row): SkuEntitlement => ({
    sku: row.sku,
    entitled: row.entitled ?? byDefault,
    source: row.entitled === null ? 'policy' : 'tenant',
    reason: row.reason ?? '',
  }));
  return { items, next_page: page.next_page };
}

/** Sets an entitlement of the tenant, or clears it with null. */
export async function setEntitlement(
  policies: Policies,
  tx: Tx,
  { organizationId, sku }: { organizationId: string; sku: string },
  wanted: { entitled: boolean; reason: string; at: Date } | null,
): Promise<SkuEntitlement> {
  const before = await listEntitlements(policies, tx, organizationId, { limit: 1, sku });
  if (before.items.length === 0) throw notFound();
  if (wanted === null) {
    await tx
      .deleteFrom('sku_entitlements')
      .where('organization_id', '=', organizationId)
      .where('sku', '=', sku)
      .execute();
  } else {
    const values = { entitled: wanted.entitled, reason: wanted.reason, changed_at: wanted.at };
    await tx
      .insertInto('sku_entitlements')
      .values({ organization_id: organizationId, sku, ...values })
      .onConflict((c) => c.columns(['organization_id', 'sku']).doUpdateSet(values))
      .execute();
  }
  const after = await listEntitlements(policies, tx, organizationId, { limit: 1, sku });
  return first(after.items, 'item of the answer');
}
