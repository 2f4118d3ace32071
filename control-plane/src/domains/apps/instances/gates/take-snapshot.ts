import type { Tx } from '../../../../platform/db/database.ts';
import type { Services } from '../../../../platform/services.ts';
import { liveClaims } from '../../../allocations/claims.ts';
import type { Capacity } from '../../../allocations/capacity.ts';
import { findExhaustedBudget } from '../../../billing/budgets/require-budgets.ts';
import { checkIncrements, type CounterIncrement } from '../../../quotas/check-increments.ts';
import { missingSecrets } from '../../../secrets/missing-secrets.ts';
import type { VersionRow } from '../../catalog/describe-manifest.ts';
import type { Snapshot } from './gates.ts';
import { refuseVersion } from './refuse-version.ts';

/** What an instance is about to take, or takes already in a dry run. */
export interface Request {
  organizationId: string;
  projectId: string;
  createdBy: string;
  version: VersionRow;
  offered: boolean;
}

/** Reads what the gates look at. Quota counters stay locked until the transaction ends. Needs the role `gpuaas_worker`. */
export async function takeSnapshot(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  request: Request,
  capacity: Capacity,
): Promise<Snapshot> {
  const { organizationId, projectId, createdBy, version, offered } = request;
  const holders = [
    { holderType: 'project', holderId: projectId },
    { holderType: 'user', holderId: createdBy },
  ] as const;
  const increments = holders.map((holder): CounterIncrement => ({
    counter: { organizationId, ...holder, measure: 'app_instances', unit: '' },
    amount: 1n,
  }));
  return {
    offered,
    refusal: await refuseVersion(policies, tx, version),
    missingSecrets: await missingSecrets(tx, projectId, version.secrets),
    quota: await checkIncrements(policies, tx, increments),
    exhausted: await findExhaustedBudget({ clock }, tx, {
      organizationId,
      projectId,
      ownerUserId: capacity.ownerUserId,
      currency: capacity.currency,
    }),
    capacity,
    liveClaims: await liveClaims(tx, capacity.id),
  };
}
