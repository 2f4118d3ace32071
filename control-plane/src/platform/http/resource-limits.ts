import { sql, type RawBuilder } from 'kysely';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import { withRole } from '../db/scope.ts';
import type { Services } from '../services.ts';
import type { CheckCreation, Creation } from './creation-limits.ts';
import { Problem } from './problem.ts';
import { first } from '../present.ts';

/** How many of a resource may exist, by the policy that operations name as their `x-limit`. */
export interface ResourceLimit {
  policy: PolicyName;
  /** The tenant, project or person that the limit applies to. */
  holder(creation: Creation): string | null;
  /** How many the holder has, including the new one. */
  count(holder: string): RawBuilder<{ count: number }>;
  /** Set if the caller's own scope does not show all of them. */
  countsAsAuth?: true;
}

type Count = ResourceLimit['count'];

export function perTenant(policy: PolicyName, count: Count): ResourceLimit {
  return { policy, count, holder: ({ target }) => target?.organizationId ?? null };
}

export function perPerson(policy: PolicyName, count: Count): ResourceLimit {
  return { policy, count, holder: ({ caller }) => caller.actorId, countsAsAuth: true };
}

/**
 * Refuses a creation above the limit, in the transaction that made it. Creations of one holder are serial
 * from here to their commit, so that many in parallel cannot pass together.
 */
export function checkLimits(
  { policies }: Pick<Services, 'policies'>,
  limits: readonly ResourceLimit[],
): CheckCreation {
  const byPolicy = new Map<string, ResourceLimit>(limits.map((limit) => [limit.policy, limit]));
  return async (tx, name, creation) => {
    const limit = byPolicy.get(name);
    const holder = limit?.holder(creation);
    if (!limit || !holder) return;
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${name} ${holder}`}, 0))`.execute(tx);
    const counted = await (limit.countsAsAuth
      ? withRole(tx, 'gpuaas_auth', () => limit.count(holder).execute(tx))
      : limit.count(holder).execute(tx));
    const organizationId = creation.target?.organizationId;
    const maximum = Number(policies.get(limit.policy, organizationId ? { organizationId } : {}));
    if (first(counted.rows, 'row of the statement').count <= maximum) return;
    throw new Problem('limit_reached', `The limit is ${maximum} (${name}).`, {
      extensions: { limit: name, maximum },
    });
  };
}
