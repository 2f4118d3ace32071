import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireIfMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { findOrganization } from '../tenancy/organizations/find-organization.ts';
import { createSku } from './create-sku.ts';
import { createRegion, getRegion, listRegions, updateRegion } from './regions.ts';
import { getAdminSku, listAdminSkus, updateSku } from './admin-skus.ts';
import { listSkus } from './list-skus.ts';
import type { CatalogServices } from './needs.ts';

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

export function catalogRoutes(
  services: Pick<CatalogServices, 'clock' | 'policies' | 'placementCandidates'>,
): Handlers<CatalogOperations, Caller> {
  return {
    async listRegions({ read }) {
      return { status: 200, body: { items: await read(listRegions), next_page: null } };
    },
    createRegion({ caller, body, audit, mutate }) {
      audit({ targetType: 'region', targetId: body.region, detail: body });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        return { status: 201, body: await createRegion(tx, body) };
      });
    },
    async getAdminRegion({ caller, params, read }) {
      authorize(caller, 'catalog.manage', atPlatform);
      return { status: 200, body: await read((tx) => getRegion(tx, params.region)) };
    },
    updateRegion({ caller, params, body, request, audit, mutate }) {
      const target = { targetType: 'region', targetId: params.region };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        const before = await getRegion(tx, params.region, { lock: true });
        requireIfMatch(request, before);
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
      authorize(caller, 'catalog.manage', atPlatform);
      return { status: 200, body: await read((tx) => listAdminSkus(tx, query)) };
    },
    createSku({ caller, body, audit, mutate }) {
      audit({ targetType: 'sku', targetId: body.sku, detail: body });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        return { status: 201, body: await createSku(tx, body), location: `/api/v1/admin/skus/${body.sku}` };
      });
    },
    async getAdminSku({ caller, params, read }) {
      authorize(caller, 'catalog.manage', atPlatform);
      return { status: 200, body: await read((tx) => getAdminSku(tx, params.sku)) };
    },
    updateSku({ caller, params, body, request, audit, mutate }) {
      const target = { targetType: 'sku', targetId: params.sku };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        const before = await getAdminSku(tx, params.sku, { lock: true });
        requireIfMatch(request, before);
        const after = await updateSku(tx, before, body);
        audit({ ...target, before, after });
        return { status: 200, body: after };
      });
    },
  };
}
