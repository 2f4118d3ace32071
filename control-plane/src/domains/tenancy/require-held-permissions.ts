import { isPermission } from '../../platform/auth/granted-bindings.ts';
import { permissionsAt, type Caller, type Scope } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';

/** A caller cannot grant more than they hold at the scope; the refusal names the missing permissions. */
export function requireHeldPermissions(caller: Caller, permissions: readonly string[], scope: Scope): void {
  const held: ReadonlySet<string> = permissionsAt(caller.bindings, scope);
  const missing = permissions.filter((permission) => isPermission(permission) && !held.has(permission));
  if (missing.length === 0) return;
  throw new Problem('exceeds_own_rights', `You do not hold ${missing.join(', ')} there yourself.`, {
    extensions: { missing_permissions: missing },
  });
}
