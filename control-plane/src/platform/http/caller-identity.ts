import type { Scope } from '../db/scope.ts';

/** The caller of a request, as the HTTP layer needs it. */
export interface CallerIdentity {
  /** Scopes idempotency keys and rate limits. */
  id: string;
  /** Named in the audit log: a user or service account; null for a host or an unknown caller. */
  actorId: string | null;
  role: string;
  /** Set once a use-case has checked a permission. */
  authorised: boolean;
  /** The database scope of its requests. */
  scope: Scope;
}
