import type { Tx } from '../db/database.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { AuditTarget } from './operation.ts';

/** The created resource, as limits need it. */
export interface Creation {
  caller: CallerIdentity;
  target: AuditTarget | undefined;
  body: Record<string, string | undefined>;
}

/** Throws if the creation exceeds the policy that the operation names as its `x-limit`. */
export type CheckCreation = (tx: Tx, limit: string, creation: Creation) => Promise<void>;

/** Limit of operations whose results are not counted as resources: a number per hour for each caller. */
export const HOURLY_LIMIT = 'http.creations_per_hour';
