import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { recordRelease } from './request-release.ts';
import { releasable } from './states.ts';

/** Leases taken in one transaction; the next look takes the next ones. */
const AT_ONCE = 200;

/** The platform's own wish to release what a tenant has in a currency. Returns how many it asked for. */
export async function releaseLeases(
  services: Services,
  tx: Tx,
  { organizationId, currency }: { organizationId: string; currency: string },
  why: string,
): Promise<number> {
  const rows = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .where('desired_state', '=', 'active')
    .where('state', 'in', [...releasable])
    .orderBy('id')
    .limit(AT_ONCE)
    .forUpdate()
    .skipLocked()
    .execute();
  for (const row of rows) await recordRelease(services, tx, row, why);
  return rows.length;
}
