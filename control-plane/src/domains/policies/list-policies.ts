import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition } from '@gpuaas/contracts/policies';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { notFound } from '../../platform/http/problem.ts';
import { findDefinition, policyNames } from '../../platform/policy/registry.ts';
import { lockValue, readValues } from '../../platform/policy/values.ts';
import { describePolicy, withHistory, type PolicyWithHistory, type Viewpoint } from './describe-policy.ts';

/** Keys in their order. A tenant sees those that can differ for a tenant. */
export async function listPolicies(
  tx: Tx,
  view: Viewpoint,
  query: { limit: number; page?: string },
): Promise<{ items: components['schemas']['Policy'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['text'])?.[0] ?? '';
  const keys = policyNames.filter((key) => key > after && isShown(view, findDefinition(key)!));
  const page = pageOf(keys.slice(0, query.limit + 1), query.limit, (key) => [key]);
  const own = await readValues(tx, view.scope);
  const items = page.rows.map((key) => describePolicy(view, key, findDefinition(key)!, own.get(key)));
  return { items, next_page: page.next_page };
}

export async function getPolicy(
  tx: Tx,
  view: Viewpoint,
  key: string,
  options: { lock: boolean } = { lock: false },
): Promise<{ body: PolicyWithHistory; own: unknown; definition: PolicyDefinition; name: PolicyName }> {
  const definition = findDefinition(key);
  if (!definition || !isShown(view, definition)) throw notFound();
  const name = key as PolicyName;
  const own = options.lock
    ? await lockValue(tx, key, view.scope)
    : (await readValues(tx, view.scope, key)).get(key);
  const body = await withHistory(tx, describePolicy(view, name, definition, own), view.scope);
  return { body, own, definition, name };
}

function isShown({ side, scope }: Viewpoint, { set_by }: PolicyDefinition): boolean {
  return (
    side === 'policy.manage' ||
    (scope.organizationId !== undefined && (set_by.tenant ?? set_by.project) !== undefined)
  );
}
