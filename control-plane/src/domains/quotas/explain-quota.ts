import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Charge } from './counter.ts';
import { decideCharges, type Excess } from './decide-charges.ts';
import { quotaRows } from './list-quotas.ts';
import { standingsOf } from './require-quota.ts';

/** Holders have a handful of measures each. */
const ROWS = 1000;

/** What a launch would exceed now; nothing is held. */
export async function explainQuota(policies: Policies, tx: Tx, charge: Charge): Promise<Excess[]> {
  const { organizationId, projectId, launchedBy } = charge;
  const rows = [
    ...(await quotaRows(tx, organizationId, { holderId: projectId, limit: ROWS })),
    ...(await quotaRows(tx, organizationId, { holderId: launchedBy, limit: ROWS })),
  ].map((row) => ({ ...row, organizationId }));
  return decideCharges([charge], standingsOf(policies, rows))[0]!;
}
