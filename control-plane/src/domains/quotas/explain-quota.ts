import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { incrementsFor, type Charge } from './counter.ts';
import { checkCharges, type QuotaExcess } from './check-charges.ts';
import { quotaRows, type QuotaRow } from './list-quotas.ts';
import { usageByCounter } from './check-quotas.ts';
import { first } from '../../platform/present.ts';

/** Each holder has only a few measures. */
const ROWS = 1000;

/** Limits that a launch would exceed now; locks nothing. */
export async function explainQuota(policies: Policies, tx: Tx, charge: Charge): Promise<QuotaExcess[]> {
  const { organizationId } = charge;
  const holders = new Set(incrementsFor(charge).map(({ counter }) => counter.holderId));
  const rows: (QuotaRow & { organizationId: string })[] = [];
  for (const holderId of holders) {
    const found = await quotaRows(tx, organizationId, { holderId, limit: ROWS });
    rows.push(...found.map((row) => ({ ...row, organizationId })));
  }
  return first(checkCharges([charge], usageByCounter(policies, rows)), 'charge');
}
