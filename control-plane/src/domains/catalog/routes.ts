import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { findOrganization } from '../tenancy/organizations/find-organization.ts';
import { createSku } from './create-sku.ts';
import { createRegion, getRegion, listRegions, updateRegion } from './edit-region.ts';
import { getAdminSku, listAdminSkus, updateSku } from './edit-sku.ts';
import { listSkus } from './list-skus.ts';

type CatalogOperations = Pick<
  operations,
  | 'listRegions'
  | 'createRegion'
  | 'getAdminRegion'
  | 'updateRegion'
  | 'listSkus'
  | 'listAdminSkus'
  | 'createSku'
  | 'getAdminSku'
  | 'updateSku'
>;

const platform = { kind: 'platform' } as const;

export function catalogRoutes(
  services: Pick<Services, 'clock' | 'policies'>,
): Handlers<CatalogOperations, Caller> {
  return {
    async listRegions({ read }) {
      return { status: 200, body: { items: await read(listRegions), next_page: null } };
    },
    createRegion({ caller, body, audit, mutate }) {
      audit({ targetType: 'region', targetId: body.region, detail: body });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', platform);
        return { status: 201, body: await createRegion(tx, body) };
      });
    },
    async getAdminRegion({ caller, params, read }) {
      authorize(caller, 'catalog.manage', platform);
      return { status: 200, body: await read((tx) => getRegion(tx, params.region)) };
    },
    updateRegion({ caller, params, body, request, audit, mutate }) {
      const target = { targetType: 'region', targetId: params.region };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', platform);
        const before = await getRegion(tx, params.region, { lock: true });
        requireMatch(request, before);
        const after = await updateRegion(tx, params.region, body);
        audit({ ...target, before, after });
        return { status: 200, body: after };
      });
    },
    listSkus({ caller, query, read }) {
      const organizationId = query.organization_id ?? null;
      return read(async (tx) => {
        if (organizationId !== null) {
          await findOrganization(tx, caller, 'organization.read', organizationId, { anywhere: true });
        }
        return {
          status: 200,
          body: { items: await listSkus(services, tx, organizationId), next_page: null },
        };
      });
    },
    async listAdminSkus({ caller, query, read }) {
      authorize(caller, 'catalog.manage', platform);
      return { status: 200, body: await read((tx) => listAdminSkus(tx, { limit: 50, ...query })) };
    },
    createSku({ caller, body, audit, mutate }) {
      audit({ targetType: 'sku', targetId: body.sku, detail: body });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', platform);
        return { status: 201, body: await createSku(tx, body), location: `/api/v1/admin/skus/${body.sku}` };
      });
    },
    async getAdminSku({ caller, params, read }) {
      authorize(caller, 'catalog.manage', platform);
      return { status: 200, body: await read((tx) => getAdminSku(tx, params.sku)) };
    },
    updateSku({ caller, params, body, request, audit, mutate }) {
      const target = { targetType: 'sku', targetId: params.sku };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', platform);
        const before = await getAdminSku(tx, params.sku, { lock: true });
        requireMatch(request, before);
        const after = await updateSku(tx, before, body);
        audit({ ...target, before, after });
        return { status: 200, body: after };
      });
    },
  };
}
