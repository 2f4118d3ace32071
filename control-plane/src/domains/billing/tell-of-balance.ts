import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { atZero } from './at-zero.ts';
import type { Standing } from './decide-standing.ts';
import type { TenantFunds } from './tenant-funds.ts';

export interface Decided {
  standing: Standing;
  stopsAt: Date | null;
  available: bigint;
  runsOut: Date | null;
}

/** Projects named in one event; it stays small enough for every way it travels. */
const MOST_PROJECTS = 1000;

/** One event for the tenant, which names the projects whose leases the money is spent on. */
export async function tellOfBalance(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  funds: TenantFunds,
  { standing, stopsAt, available, runsOut }: Decided,
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
      at_zero: atZero(policies, organizationId),
    },
  });
}

export async function tellOfStop(
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
