import { isPermission } from '../../platform/auth/rights.ts';
import { permissionsAt, type Caller, type Scope } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';

/** Nobody gives away more than they hold at the scope; the refusal names what they lack. */
export function requireRights(caller: Caller, permissions: readonly string[], scope: Scope): void {
  const held: ReadonlySet<string> = permissionsAt(caller.bindings, scope);
  const missing = permissions.filter((permission) => isPermission(permission) && !held.has(permission));
  if (missing.length === 0) return;
  throw new Problem('exceeds_own_rights', `You do not hold ${missing.join(', ')} there yourself.`, {
    extensions: { missing_permissions: missing },
  });
}
