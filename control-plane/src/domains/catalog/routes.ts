import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { getAdminSku, listAdminSkus, updateSku } from './edit-sku.ts';
import { listSkus } from './list-skus.ts';

type CatalogOperations = Pick<
  operations,
  'listRegions' | 'listSkus' | 'listImages' | 'listAdminSkus' | 'getAdminSku' | 'updateSku'
>;

export function catalogRoutes({ policies }: Pick<Services, 'policies'>): Handlers<CatalogOperations, Caller> {
  return {
    async listRegions({ read }) {
      const rows = await read((tx) =>
        tx.selectFrom('regions').selectAll().orderBy('status', 'desc').orderBy('region').execute(),
      );
      const items = rows.map((row) => ({ ...row, status: row.status as 'enabled' | 'coming' }));
      return { status: 200, body: { items, next_page: null } };
    },
    async listSkus({ read }) {
      return { status: 200, body: { items: await read((tx) => listSkus(policies, tx)), next_page: null } };
    },
    async listImages({ read }) {
      const rows = await read((tx) => tx.selectFrom('images').selectAll().orderBy('image', 'desc').execute());
      const items = rows.map((row) => ({ ...row, kind: row.kind as 'base' | 'cuda-dev' }));
      return { status: 200, body: { items, next_page: null } };
    },
    async listAdminSkus({ caller, query, read }) {
      authorize(caller, 'catalog.manage', { kind: 'platform' });
      return { status: 200, body: await read((tx) => listAdminSkus(tx, { limit: 50, ...query })) };
    },
    async getAdminSku({ caller, params, read }) {
      authorize(caller, 'catalog.manage', { kind: 'platform' });
      return { status: 200, body: await read((tx) => getAdminSku(tx, params.sku)) };
    },
    updateSku({ caller, params, body, request, audit, mutate }) {
      audit({ targetType: 'sku', targetId: params.sku, detail: { enabled: body.enabled } });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', { kind: 'platform' });
        requireMatch(request, await getAdminSku(tx, params.sku, { lock: true }));
        return { status: 200, body: await updateSku(tx, params.sku, body) };
      });
    },
  };
}
