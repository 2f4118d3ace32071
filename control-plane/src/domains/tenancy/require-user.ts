import type { Caller } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';

/** The person who calls. A service account has no keys, memberships or organizations of its own. */
export function requireUser(caller: Caller): string {
  if (caller.userId !== null) return caller.userId;
  throw new Problem('users_only', 'This is for people; a service account cannot do it.');
}
