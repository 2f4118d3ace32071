import { policyValueError, type PolicyDefinition, type PolicyValue } from '@gpuaas/contracts/policies';
import type { EventPayloads } from '@gpuaas/contracts/events';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { requireIfMatch } from '../../platform/http/etag.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Policies, PolicyScope } from '../../platform/policy/policies.ts';
import { isLooser } from '../../platform/policy/resolve.ts';
import { scopeName } from '../../platform/policy/client.ts';
import { writeChange } from '../../platform/policy/values.ts';
import { describePolicy, withHistory, type PolicyWithHistory, type PolicyView } from './describe-policy.ts';
import { getPolicy } from './list-policies.ts';

export interface PolicyChangeRequest {
  key: string;
  /** Undefined clears the value. */
  value: unknown;
  reason: string;
  caller: Caller;
  correlationId: string;
  /** For `If-Match`. */
  request: FastifyRequest;
}

/** Sets or resets a key at the scope, with its history and event. */
export async function changePolicy(
  tx: Tx,
  view: PolicyView,
  change: PolicyChangeRequest,
): Promise<{ body: PolicyWithHistory; before: unknown }> {
  const { body, own, definition, name } = await getPolicy(tx, view, change.key, { lock: true });
  requireIfMatch(change.request, body);
  const scope = scopeName(view.scope);
  if (definition.set_by[scope] !== view.side) throw notSettableHere(change.key, scope);
  if (change.value !== undefined) {
    requireAllowedValue(definition, change.value);
    refuseWeaker(view, name, definition, change.value);
  }
  const { organizationId = null, projectId = null } = view.scope;
  const changeId = await writeChange(tx, {
    key: change.key,
    scope: view.scope,
    before: own,
    after: change.value,
    actorId: change.caller.id,
    actorRole: change.caller.role,
    reason: change.reason,
    correlationId: change.correlationId,
  });
  await emit(tx, {
    type: 'policy.changed',
    subjectId: changeId,
    organizationId,
    correlationId: change.correlationId,
    payload: {
      policy: change.key,
      organization_id: organizationId,
      project_id: projectId,
      before: eventValue(own),
      after: eventValue(change.value),
    },
  });
  const after = describePolicy(view, name, definition, change.value);
  return { body: await withHistory(tx, after, view.scope), before: own };
}

type EventValue = EventPayloads['policy.changed']['before'];

function eventValue(value: unknown): EventValue {
  return (value ?? null) as EventValue;
}

function requireAllowedValue(definition: PolicyDefinition, value: unknown): asserts value is PolicyValue {
  const mismatch = policyValueError(definition, value);
  if (!mismatch) return;
  throw new Problem('policy_value_invalid', `The value ${mismatch}.`, {
    errors: [{ pointer: '/value', detail: mismatch }],
    extensions: {
      minimum: definition.minimum ?? null,
      maximum: definition.maximum ?? null,
      values: definition.values ?? null,
    },
  });
}

function refuseWeaker(
  { policies, scope }: { policies: Policies; scope: PolicyScope },
  key: Parameters<Policies['get']>[0],
  definition: PolicyDefinition,
  value: PolicyValue,
): void {
  if (!scope.organizationId) return;
  const above = policies.explain(key, scope.projectId ? { organizationId: scope.organizationId } : {});
  if (!isLooser(definition, value, above.value)) return;
  const words = definition.guard_rail === 'at_most' ? 'at most' : 'at least';
  throw new Problem(
    'policy_weaker_than_guard_rail',
    `${key} must be ${words} ${String(above.value)}, which holds above.`,
    { extensions: { guard_rail: definition.guard_rail, value_above: above.value, source: above.source } },
  );
}

function notSettableHere(key: string, scope: string): Problem {
  return new Problem('policy_not_settable_here', `${key} cannot be set here for the scope ${scope}.`, {
    extensions: { scope },
  });
}
