import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Context, Handlers } from '../../platform/http/operation.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { PolicyScope } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { changePolicy } from './change-policy.ts';
import type { PolicyView } from './describe-policy.ts';
import { getPolicy, listPolicies } from './list-policies.ts';

type PolicyOperations = Pick<
  operations,
  | 'listPolicies'
  | 'getPolicy'
  | 'setPolicy'
  | 'resetPolicy'
  | 'listOrganizationPolicies'
  | 'getOrganizationPolicy'
  | 'setOrganizationPolicy'
  | 'resetOrganizationPolicy'
>;

type AdminChange = Context<operations['setPolicy'] | operations['resetPolicy'], Caller>;
type TenantChange = Context<
  operations['setOrganizationPolicy'] | operations['resetOrganizationPolicy'],
  Caller
>;

export function policyRoutes({ policies }: Services): Handlers<PolicyOperations, Caller> {
  const ofPlatform = (organizationId: string | undefined): PolicyView => ({
    policies,
    scope: organizationId === undefined ? {} : { organizationId },
    side: 'policy.manage',
  });
  const ofTenant = (organizationId: string, projectId: string | undefined): PolicyView => ({
    policies,
    scope: { organizationId, projectId },
    side: 'tenant_policy.manage',
  });

  /** Answers once this process itself sees the change. */
  const change = async (
    context: AdminChange | TenantChange,
    view: PolicyView,
    wanted: { value: unknown; reason: string },
    allow: (tx: Tx) => Promise<void>,
  ) => {
    const { caller, params, correlationId, request } = context;
    const organizationId = view.scope.organizationId ?? null;
    const target = { targetType: 'policy', targetId: params.policy_name };
    context.audit(target);
    const reply = await context.mutate(async (tx) => {
      await allow(tx);
      const { body, before } = await changePolicy(tx, view, {
        key: params.policy_name,
        ...wanted,
        caller,
        correlationId,
        request,
      });
      context.audit({
        ...target,
        organizationId,
        before: { value: before ?? null },
        after: { value: wanted.value ?? null },
        detail: { ...view.scope, reason: wanted.reason },
      });
      return { status: 200, body };
    });
    await policies.refresh();
    return reply;
  };
  const changeForPlatform = (context: AdminChange, value: unknown, reason: string) =>
    change(context, ofPlatform(context.query.organization_id), { value, reason }, async (tx) => {
      authorize(context.caller, 'policy.manage', atPlatform);
      await requireTenant(tx, context.query.organization_id);
    });
  const changeForTenant = (context: TenantChange, value: unknown, reason: string) => {
    const { organization_id } = context.params;
    const view = ofTenant(organization_id, context.query.project_id);
    return change(context, view, { value, reason }, (tx) =>
      authorizeTenant(tx, context.caller, 'tenant_policy.manage', view.scope),
    );
  };

  return {
    listPolicies({ caller, query, read }) {
      authorize(caller, 'policy.read', atPlatform);
      return read(async (tx) => {
        await requireTenant(tx, query.organization_id);
        return {
          status: 200,
          body: await listPolicies(tx, ofPlatform(query.organization_id), query),
        };
      });
    },
    getPolicy({ caller, params, query, read }) {
      authorize(caller, 'policy.read', atPlatform);
      return read(async (tx) => {
        await requireTenant(tx, query.organization_id);
        const { body } = await getPolicy(tx, ofPlatform(query.organization_id), params.policy_name);
        return { status: 200, body };
      });
    },
    setPolicy: (context) => changeForPlatform(context, context.body.value, context.body.reason ?? ''),
    resetPolicy: (context) => changeForPlatform(context, undefined, ''),
    listOrganizationPolicies({ caller, params, query, read }) {
      const view = ofTenant(params.organization_id, query.project_id);
      return read(async (tx) => {
        await authorizeTenant(tx, caller, 'tenant_policy.read', view.scope);
        return { status: 200, body: await listPolicies(tx, view, query) };
      });
    },
    getOrganizationPolicy({ caller, params, query, read }) {
      const view = ofTenant(params.organization_id, query.project_id);
      return read(async (tx) => {
        await authorizeTenant(tx, caller, 'tenant_policy.read', view.scope);
        return { status: 200, body: (await getPolicy(tx, view, params.policy_name)).body };
      });
    },
    setOrganizationPolicy: (context) =>
      changeForTenant(context, context.body.value, context.body.reason ?? ''),
    resetOrganizationPolicy: (context) => changeForTenant(context, undefined, ''),
  };
}

async function requireTenant(tx: Tx, organizationId: string | undefined): Promise<void> {
  if (organizationId === undefined) return;
  const row = await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound();
}

/** A project of another tenant is none of this one. */
async function authorizeTenant(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  { organizationId, projectId }: PolicyScope,
): Promise<void> {
  if (organizationId === undefined) throw notFound();
  if (projectId === undefined) {
    authorize(caller, permission, { kind: 'tenant', organizationId });
    return;
  }
  authorize(caller, permission, { kind: 'project', organizationId, projectId });
  const row = await tx
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound();
}
