import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireIfMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { blessImage } from './bless-image.ts';
import { createImage, getImage, listAdminImages, listImages, updateImage } from './images.ts';

type ImageOperations = Pick<
  operations,
  'listImages' | 'listAdminImages' | 'createImage' | 'getAdminImage' | 'updateImage' | 'blessImage'
>;

export function imageRoutes({ policies }: Pick<Services, 'policies'>): Handlers<ImageOperations, Caller> {
  return {
    async listImages({ read }) {
      return { status: 200, body: { items: await read(listImages), next_page: null } };
    },
    async listAdminImages({ caller, query, read }) {
      authorize(caller, 'catalog.manage', atPlatform);
      return { status: 200, body: await read((tx) => listAdminImages(tx, query)) };
    },
    createImage({ caller, body, audit, mutate }) {
      audit({ targetType: 'image', targetId: body.image, detail: body });
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        return { status: 201, body: await createImage(tx, body) };
      });
    },
    async getAdminImage({ caller, params, read }) {
      authorize(caller, 'catalog.manage', atPlatform);
      return { status: 200, body: await read((tx) => getImage(tx, params.image)) };
    },
    updateImage({ caller, params, body, request, audit, mutate }) {
      const target = { targetType: 'image', targetId: params.image };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'catalog.manage', atPlatform);
        const before = await getImage(tx, params.image, { lock: true });
        requireIfMatch(request, before);
        const after = await updateImage(tx, params.image, body);
        audit({ ...target, before, after });
        return { status: 200, body: after };
      });
    },
    blessImage({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'image', targetId: params.image };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'image.bless', atPlatform);
        const blessing = { ...body, callerId: caller.id };
        const { before, image, signedBy } = await blessImage(policies, tx, params.image, blessing);
        audit({
          ...target,
          before: { digest: before },
          after: { digest: image.digest },
          detail: { reason: body.reason, signed_by: signedBy },
        });
        return { status: 200, body: image };
      });
    },
  };
}
