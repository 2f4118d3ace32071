import { requireWholeCredential, type Caller } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';

/**
 * The person who calls about what is their own. A service account has no keys, memberships or organizations of its own,
 * and a key with scopes does not speak for its owner.
 */
export function requireUser(caller: Caller): string {
  requireWholeCredential(caller);
  if (caller.userId !== null) return caller.userId;
  throw new Problem('users_only', 'This is for people; a service account cannot do it.');
}
