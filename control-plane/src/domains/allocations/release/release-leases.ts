import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { ReleaseCause } from '../../timeline/allocation-events.ts';
import { beginRelease } from './request-release.ts';
import { releasable } from '../states.ts';

/** A queued launch costs nothing yet, and its funds are checked again when it starts. */
const costing = [...releasable].filter((state) => state !== 'queued');

/** Leases per transaction; the next call takes the next ones. */
const BATCH = 200;

/**
 * Requests the release of a tenant's leases in a currency, or of a part of them, on behalf of the platform.
 * Returns their number.
 */
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
    .limit(BATCH)
    .forUpdate()
    .skipLocked()
    .execute();
  for (const row of rows) await beginRelease(services, tx, row, why, cause);
  return rows.length;
}
