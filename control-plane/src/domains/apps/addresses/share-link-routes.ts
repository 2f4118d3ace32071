import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { appOrigin } from '../../access/http/app-host.ts';
import { findAddressed, type AppSites } from './describe-address.ts';
import { createShareLink, listShareLinks, revokeShareLink } from './share-links.ts';

export function shareLinkRoutes(
  services: Services,
  { appsSite }: AppSites,
): Handlers<Pick<operations, 'listAppShareLinks' | 'createAppShareLink' | 'revokeAppShareLink'>, Caller> {
  return {
    listAppShareLinks({ caller, params, query, read }) {
      return read(async (tx) => {
        const { id } = await findAddressed(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: await listShareLinks(tx, id, query) };
      });
    },
    createAppShareLink({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'app_instance', targetId: params.app_instance_id };
      audit(target);
      return mutate(async (tx) => {
        const made = await createShareLink(services, tx, caller, params.app_instance_id, body);
        const { link: share_link, label, organizationId, secret } = made;
        const detail = {
          share_link_id: share_link.id,
          expires_at: share_link.expires_at,
          note: share_link.note,
        };
        audit({ ...target, organizationId, detail });
        const url = `${appOrigin(appsSite, label)}/.gpuaas/enter?${new URLSearchParams({ share: secret })}`;
        return {
          status: 201,
          body: { share_link, url },
          replayBody: { share_link, url: null, secret_already_shown: true },
        };
      });
    },
    revokeAppShareLink({ caller, params, audit, mutate }) {
      const { app_instance_id: instanceId, share_link_id: linkId } = params;
      const target = { targetType: 'app_instance', targetId: instanceId, detail: { share_link_id: linkId } };
      audit(target);
      return mutate(async (tx) => {
        const { organizationId } = await revokeShareLink(tx, caller, instanceId, linkId);
        audit({ ...target, organizationId });
        return { status: 204, body: undefined };
      });
    },
  };
}
