import { platformPermissions, type Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Operation } from '../operations.ts';
import type { RoleCaller } from './callers.ts';
import { scopeLevels } from './scope-levels.ts';

export type Target = 'existing' | 'missing';

/** What a caller with a valid credential must get. `passes` is anything but a refusal of access. */
export type Expectation = 'passes' | 403 | 404;

/** Read off the contract: the operation's permission and scope, and the permissions of the caller's group. */
export function expectation(operation: Operation, caller: RoleCaller, target: Target): Expectation {
  const { permission, scope } = operation;
  if (permission === null || permission === 'self') {
    // What is somebody's own is nobody else's: these callers own nothing.
    return operation.targets.length > 0 ? 404 : 'passes';
  }
  const holds = caller.permissions.has(permission as Permission);
  if (Object.hasOwn(platformPermissions, permission)) {
    if (!holds) return 403;
    return target === 'missing' && operation.targets.length > 0 ? 404 : 'passes';
  }
  if (target === 'missing' || caller.standing !== 'owner tenant') return 404;
  return holds && reaches(caller, levelOf(operation.id, scope)) ? 'passes' : 403;
}

/** A group that is bound at a project holds there, and where a right in any project is enough. */
function reaches(caller: RoleCaller, level: (typeof scopeLevels)[string]): boolean {
  return caller.scope === 'tenant' || level !== 'tenant';
}

function levelOf(id: string, scope: string | null): (typeof scopeLevels)[string] {
  const level = scopeLevels[scope ?? ''];
  if (!level) {
    throw new Error(
      `${id} has the x-scope ${scope}; say in tests/contract/access/scope-levels.ts where its permission is checked`,
    );
  }
  return level;
}
