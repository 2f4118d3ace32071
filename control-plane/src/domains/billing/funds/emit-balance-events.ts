import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { zeroBalanceNotice } from './zero-balance-notice.ts';
import type { Standing } from './decide-standing.ts';
import type { TenantFunds } from './tenant-funds.ts';

export interface StandingDecision {
  standing: Standing;
  stopsAt: Date | null;
  available: bigint;
  runsOut: Date | null;
}

/** Projects named in one event; keeps it small enough for every transport. */
const MOST_PROJECTS = 1000;

/** Emits one event per tenant with the projects that spend its balance. */
export async function emitBalanceEvent(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  funds: TenantFunds,
  { standing, stopsAt, available, runsOut }: StandingDecision,
): Promise<void> {
  if (runsOut === null) return;
  const { organizationId, currency } = funds;
  await emit(tx, {
    type: standing === 'exhausted' ? 'billing.balance_exhausted' : 'billing.low_balance_warning',
    subjectId: organizationId,
    organizationId,
    correlationId: newId(),
    payload: {
      organization_id: organizationId,
      project_id: null,
      project_ids: await spendingProjects(tx, funds),
      currency,
      available_micros: Number(available),
      per_hour_micros: Number(funds.perHourMicros),
      runs_out_at: runsOut.toISOString(),
      stops_at: stopsAt?.toISOString() ?? null,
      at_zero: zeroBalanceNotice(policies, organizationId, funds.paid),
    },
  });
}

export async function emitLeasesStopped(
  tx: Tx,
  funds: TenantFunds,
  available: bigint,
  released: number,
): Promise<void> {
  const { organizationId, currency } = funds;
  await emit(tx, {
    type: 'billing.leases_stopped',
    subjectId: organizationId,
    organizationId,
    correlationId: newId(),
    payload: {
      organization_id: organizationId,
      project_id: null,
      project_ids: await spendingProjects(tx, funds),
      currency,
      available_micros: Number(available),
      released,
    },
  });
}

async function spendingProjects(tx: Tx, { organizationId, currency }: TenantFunds): Promise<string[]> {
  const rows = await tx
    .selectFrom('allocation_meters')
    .select('project_id')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .where('ended_at', 'is', null)
    .orderBy('project_id')
    .limit(MOST_PROJECTS)
    .execute();
  return rows.map(({ project_id }) => project_id);
}
