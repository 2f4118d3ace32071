import { platformPermissions, type Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Operation } from '../operations.ts';
import type { RoleCaller } from './callers.ts';
import { scopeLevels } from './scope-levels.ts';

export type Target = 'existing' | 'missing';

/** Expected result of a caller with a valid credential. `passes` is anything but a refusal of access. */
export type Expectation = 'passes' | 403 | 404;

/** Read off the contract: the operation's permission and scope, and the permissions of the caller's group. */
export function expectation(operation: Operation, caller: RoleCaller, target: Target): Expectation {
  const { permission, scope } = operation;
  if (permission === null || permission === 'self') {
    if (scope === 'everyone') return target === 'missing' ? 404 : 'passes';
    // Personal resources are invisible to others: these callers own none.
    return operation.targets.length > 0 ? 404 : 'passes';
  }
  const holds = caller.permissions.has(permission as Permission);
  if (Object.hasOwn(platformPermissions, permission)) {
    if (!holds) return 403;
    const isMissing = target === 'missing' && operation.targets.length > 0 && !operation.makesTarget;
    return isMissing ? 404 : 'passes';
  }
  // Who holds the permission nowhere is refused before the body says what it is about.
  if (operation.body && !holds) return 403;
  if (target === 'missing' || caller.standing !== 'owner tenant') return 404;
  return holds && reaches(caller, levelOf(operation.id, scope)) ? 'passes' : 403;
}

/**
 * A group that is bound at a project holds there, and where a right in any project is enough; the role of a manager holds
 * in teams alone.
 */
function reaches(caller: RoleCaller, level: (typeof scopeLevels)[string]): boolean {
  if (caller.scope === 'tenant') return true;
  if (caller.scope === 'team') return level === 'team' || level === 'any project or team';
  return level !== 'tenant' && level !== 'team';
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
