import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Context, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { listEntitlements, setEntitlement } from './entitlements.ts';

type EntitlementOperations = Pick<
  operations,
  'listSkuEntitlements' | 'setSkuEntitlement' | 'resetSkuEntitlement'
>;

type Change = Context<operations['setSkuEntitlement'] | operations['resetSkuEntitlement'], Caller>;

export function entitlementRoutes({
  clock,
  policies,
}: Pick<Services, 'clock' | 'policies'>): Handlers<EntitlementOperations, Caller> {
  const change = (
    { caller, params, audit, mutate }: Change,
    wanted: { entitled: boolean; reason: string } | null,
  ) => {
    const { organization_id: organizationId, sku } = params;
    const target = { targetType: 'organization', targetId: organizationId };
    audit(target);
    return mutate(async (tx) => {
      authorize(caller, 'catalog.manage', atPlatform);
      const body = await setEntitlement(
        policies,
        tx,
        { organizationId, sku },
        wanted && { ...wanted, at: clock.now() },
      );
      audit({ ...target, organizationId, detail: { ...body } });
      return { status: 200, body };
    });
  };
  return {
    listSkuEntitlements({ caller, params, query, read }) {
      authorize(caller, 'catalog.manage', atPlatform);
      return read(async (tx) => ({
        status: 200,
        body: await listEntitlements(policies, tx, params.organization_id, query),
      }));
    },
    setSkuEntitlement: (context) =>
      change(context, { entitled: context.body.entitled, reason: context.body.reason ?? '' }),
    resetSkuEntitlement: (context) => change(context, null),
  };
}
