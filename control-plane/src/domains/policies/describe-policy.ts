import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition } from '@gpuaas/contracts/policies';
import type { Tx } from '../../platform/db/database.ts';
import { scopeName } from '../../platform/policy/client.ts';
import type { Policies, PolicyScope } from '../../platform/policy/policies.ts';

type Policy = components['schemas']['Policy'];
export type PolicyWithHistory = components['schemas']['PolicyWithHistory'];
type Value = Policy['value'];

const HISTORY = 50;

/** Permission that decides which keys can be set: the platform's or the tenant's. */
export type PolicyAuthority = 'policy.manage' | 'tenant_policy.manage';

export interface PolicyView {
  policies: Policies;
  scope: PolicyScope;
  side: PolicyAuthority;
}

/** The key with `own` as the value set at the scope itself. */
export function describePolicy(
  { policies, scope, side }: PolicyView,
  key: PolicyName,
  definition: PolicyDefinition,
  own: unknown,
): Policy {
  const { value, source, clamped } = policies.explain(key, scope, { value: own });
  return {
    name: key,
    type: definition.type,
    unit: definition.unit ?? null,
    doc: definition.doc,
    default: definition.default as Value,
    value: value as Value,
    source,
    clamped,
    set_value: (own ?? null) as Value | null,
    settable: definition.set_by[scopeName(scope)] === side,
    minimum: definition.minimum ?? null,
    maximum: definition.maximum ?? null,
    values: definition.values ? [...definition.values] : null,
    guard_rail: definition.guard_rail ?? null,
  };
}

export async function withHistory(tx: Tx, policy: Policy, scope: PolicyScope): Promise<PolicyWithHistory> {
  const rows = await tx
    .selectFrom('policy_changes')
    .selectAll()
    .where('key', '=', policy.name)
    .where('organization_id', 'is not distinct from', scope.organizationId ?? null)
    .where('project_id', 'is not distinct from', scope.projectId ?? null)
    .orderBy('id', 'desc')
    .limit(HISTORY)
    .execute();
  const history = rows.map((row) => ({
    id: row.id,
    before: row.before,
    after: row.after,
    actor_id: row.actor_id,
    actor_role: row.actor_role,
    reason: row.reason,
    correlation_id: row.correlation_id,
    changed_at: row.changed_at.toISOString(),
  }));
  return { ...policy, history };
}
