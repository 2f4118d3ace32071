import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { listSkus } from './list-skus.ts';

type CatalogOperations = Pick<operations, 'listRegions' | 'listSkus' | 'listImages' | 'updateSku'>;

export function catalogRoutes({ db }: Services): Handlers<CatalogOperations, Caller> {
  return {
    async listRegions() {
      const rows = await db.selectFrom('regions').selectAll().orderBy('status', 'desc').orderBy('region').execute();
      const items = rows.map((row) => ({ ...row, status: row.status as 'enabled' | 'coming' }));
      return { status: 200, body: { items, next_page: null } };
    },
    async listSkus() {
      return { status: 200, body: { items: await listSkus(db), next_page: null } };
    },
    async listImages() {
      const rows = await db.selectFrom('images').selectAll().orderBy('image', 'desc').execute();
      const items = rows.map((row) => ({ ...row, kind: row.kind as 'base' | 'cuda-dev' }));
      return { status: 200, body: { items, next_page: null } };
    },
    updateSku({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'sku', targetId: params.sku, detail: { enabled: body.enabled } });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', { kind: 'platform' });
        const row = await tx
          .updateTable('sku_catalog')
          .set({ enabled: body.enabled })
          .where('sku', '=', params.sku)
          .returning(['sku', 'enabled'])
          .executeTakeFirst();
        if (!row) throw notFound();
        return { status: 200, body: row };
      });
    },
  };
}
