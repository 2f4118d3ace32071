import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { sumOfInstance } from '../../billing/app-usage/sum-of-instance.ts';
import { describeAddress, findAddressed, findInstance, type AppSites } from './describe-address.ts';
import { setSharing } from './set-sharing.ts';

export function appAddressRoutes(
  { policies }: Pick<Services, 'policies'>,
  sites: AppSites,
): Handlers<Pick<operations, 'getAppAddress' | 'setAppSharing' | 'getAppInstanceUsage'>, Caller> {
  return {
    getAppAddress({ caller, params, read }) {
      return read(async (tx) => {
        const address = await findAddressed(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: describeAddress(sites, address) };
      });
    },
    getAppInstanceUsage({ caller, params, read }) {
      return read(async (tx) => {
        const { id } = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: { app_instance_id: id, ...(await sumOfInstance(tx, id)) } };
      });
    },
    setAppSharing({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'app_instance', targetId: params.app_instance_id };
      audit(target);
      return mutate(async (tx) => {
        const { before, address } = await setSharing(
          policies,
          tx,
          caller,
          params.app_instance_id,
          body.sharing,
        );
        audit({
          ...target,
          organizationId: address.organization_id,
          before: { sharing: before },
          after: { sharing: body.sharing },
        });
        return { status: 200, body: describeAddress(sites, address) };
      });
    },
  };
}
