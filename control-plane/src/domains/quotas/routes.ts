import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller, type Scope } from '../../platform/auth/caller.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Context, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { requireOrganization } from '../tenancy/organizations/require-organization.ts';
import { describeQuota, listQuotas } from './list-quotas.ts';
import { setQuota } from './set-quota.ts';

type QuotaOperations = Pick<
  operations,
  'listOrganizationQuotas' | 'setOrganizationQuota' | 'listTenantQuotas' | 'setTenantQuota'
>;

type List = Context<operations['listOrganizationQuotas'] | operations['listTenantQuotas'], Caller>;
type Change = Context<operations['setOrganizationQuota'] | operations['setTenantQuota'], Caller>;

/** Which permission counts: the tenant's or the platform's. */
interface Side {
  setBy: 'tenant' | 'platform';
  scope(organizationId: string): Scope;
}

const ofTenant: Side = {
  setBy: 'tenant',
  scope: (organizationId) => ({ kind: 'tenant', organizationId }),
};
const ofPlatform: Side = { setBy: 'platform', scope: () => atPlatform };

export function quotaRoutes({
  clock,
  policies,
}: Pick<Services, 'clock' | 'policies'>): Handlers<QuotaOperations, Caller> {
  const list = ({ caller, params, query, read }: List, side: Side, permission: Permission) => {
    authorize(caller, permission, side.scope(params.organization_id));
    return read(async (tx) => {
      await requireOrganization(tx, params.organization_id);
      const body = await listQuotas(policies, tx, params.organization_id, query);
      return { status: 200 as const, body };
    });
  };
  const set = ({ caller, params, body, audit, mutate }: Change, side: Side, permission: Permission) => {
    const { organization_id: organizationId } = params;
    const target = { targetType: 'organization', targetId: organizationId };
    audit(target);
    return mutate(async (tx) => {
      authorize(caller, permission, side.scope(organizationId));
      await requireOrganization(tx, organizationId);
      const { before, after } = await setQuota(
        tx,
        { organizationId, setBy: side.setBy, now: clock.now() },
        body,
      );
      const described = describeQuota(policies, organizationId, after);
      audit({
        targetType: body.holder.type,
        targetId: body.holder.id,
        organizationId,
        before: describeQuota(policies, organizationId, before),
        after: described,
      });
      return { status: 200 as const, body: described };
    });
  };
  return {
    listOrganizationQuotas: (context) => list(context, ofTenant, 'quota.read'),
    setOrganizationQuota: (context) => set(context, ofTenant, 'quota.manage'),
    listTenantQuotas: (context) => list(context, ofPlatform, 'tenant_quota.manage'),
    setTenantQuota: (context) => set(context, ofPlatform, 'tenant_quota.manage'),
  };
}
