import type { Scope } from '../db/scope.ts';

/** Who stands behind a request, as far as the HTTP layer must know. */
export interface CallerIdentity {
  /** Scopes idempotency keys and rate limits. */
  id: string;
  /** Named in the audit log: a user or service account; null for a host or a stranger. */
  actorId: string | null;
  role: string;
  /** Set once a use-case has checked a permission. */
  authorised: boolean;
  /** What the database lets its requests see and do. */
  scope: Scope;
}
