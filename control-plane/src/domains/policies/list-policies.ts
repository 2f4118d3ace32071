import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition } from '@gpuaas/contracts/policies';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/problem.ts';
import { findDefinition, isPolicyName, policyNames } from '../../platform/policy/policy-definitions.ts';
import { lockPolicyValue, readValues } from '../../platform/policy/values.ts';
import { describePolicy, withHistory, type PolicyWithHistory, type PolicyView } from './describe-policy.ts';
import { present } from '../../platform/present.ts';

/** Keys in their order. A tenant sees those that can differ for a tenant. */
export async function listPolicies(
  tx: Tx,
  view: PolicyView,
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['Policy']>> {
  const after = decodePage(query.page, ['text'])?.[0] ?? '';
  const keys = policyNames.filter(
    (key) => key > after && isShown(view, present(findDefinition(key), `policy ${key}`)),
  );
  const page = toPage(keys.slice(0, query.limit + 1), query.limit, (key) => [key]);
  const own = await readValues(tx, view.scope);
  const items = page.rows.map((key) =>
    describePolicy(view, key, present(findDefinition(key), `policy ${key}`), own.get(key)),
  );
  return { items, next_page: page.next_page };
}

export async function getPolicy(
  tx: Tx,
  view: PolicyView,
  key: string,
  options: { lock: boolean } = { lock: false },
): Promise<{ body: PolicyWithHistory; own: unknown; definition: PolicyDefinition; name: PolicyName }> {
  const definition = findDefinition(key);
  if (!definition || !isPolicyName(key) || !isShown(view, definition)) throw notFound();
  const name = key;
  const own = options.lock
    ? await lockPolicyValue(tx, key, view.scope)
    : (await readValues(tx, view.scope, key)).get(key);
  const body = await withHistory(tx, describePolicy(view, name, definition, own), view.scope);
  return { body, own, definition, name };
}

function isShown({ side, scope }: PolicyView, { set_by }: PolicyDefinition): boolean {
  return (
    side === 'policy.manage' ||
    (scope.organizationId !== undefined && (set_by.tenant ?? set_by.project) !== undefined)
  );
}
