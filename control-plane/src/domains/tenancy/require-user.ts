import { requireUnscopedCredential, type Caller } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';

/**
 * The person who calls about their own account. A service account has no keys, memberships or organizations,
 * and a key with scopes cannot act for its owner here.
 */
export function requireUser(caller: Caller): string {
  requireUnscopedCredential(caller);
  if (caller.userId !== null) return caller.userId;
  throw new Problem('users_only', 'Only people can do this, not service accounts.');
}
