import { tenantPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import { Problem } from '../../../platform/http/problem.ts';

/** Throws for names that are not permissions of tenants. */
export function requireTenantPermissions(names: readonly string[], pointer: string): void {
  const errors = names
    .map((name, index) => ({ name, pointer: `${pointer}/${index}` }))
    .filter(({ name }) => !Object.hasOwn(tenantPermissions, name))
    .map(({ name, pointer: at }) => ({ pointer: at, detail: `${name} is not a permission of tenants` }));
  if (errors.length === 0) return;
  throw new Problem('permission_unknown', 'Some permissions do not exist or are not for tenants.', {
    errors,
  });
}
