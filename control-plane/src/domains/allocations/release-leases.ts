import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { ReleaseCause } from './allocation-events.ts';
import { recordRelease } from './request-release.ts';
import { releasable } from './states.ts';

/** Who waits in line costs nothing yet, and is asked for money again when the turn comes. */
const costing = [...releasable].filter((state) => state !== 'queued');

/** Leases taken in one transaction; the next look takes the next ones. */
const AT_ONCE = 200;

/** The platform's own wish to release what a tenant, or a part of it, has in a currency. Returns how many it asked for. */
export async function releaseLeases(
  services: Services,
  tx: Tx,
  {
    organizationId,
    currency,
    scopeType = 'tenant',
    scopeId = organizationId,
  }: {
    organizationId: string;
    currency: string;
    scopeType?: 'tenant' | 'project' | 'team' | 'user';
    scopeId?: string;
  },
  why: string,
  cause: ReleaseCause,
): Promise<number> {
  const rows = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .$if(scopeType === 'project', (q) => q.where('project_id', '=', scopeId))
    .$if(scopeType === 'user', (q) => q.where('owner_user_id', '=', scopeId))
    .$if(scopeType === 'team', (q) =>
      q.where('owner_user_id', 'in', (e) =>
        e.selectFrom('team_members').select('user_id').where('team_id', '=', scopeId),
      ),
    )
    .where('desired_state', '=', 'active')
    .where('state', 'in', costing)
    .orderBy('id')
    .limit(AT_ONCE)
    .forUpdate()
    .skipLocked()
    .execute();
  for (const row of rows) await recordRelease(services, tx, row, why, cause);
  return rows.length;
}
