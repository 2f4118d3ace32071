import { recordAudit } from '../../platform/audit/record.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { atZero } from './at-zero.ts';
import { decideStanding, type Standing } from './decide-standing.ts';
import { availableMicros, readFunds, runsOutAt, type TenantFunds } from './tenant-funds.ts';

/** Releases what a tenant runs; allocations know how, and roles bring the two together. */
export type ReleaseLeases = (
  services: Services,
  tx: Tx,
  leases: {
    organizationId: string;
    currency: string;
    /** All of the tenant's where nothing narrower is said. */
    scopeType?: 'tenant' | 'project' | 'team' | 'user';
    scopeId?: string;
  },
  why: string,
) => Promise<number>;

/** Warns of money that runs low, and stops leases when it is used up and the grace is over. */
export function watchBalances(releaseLeases: ReleaseLeases): Tick<Services> {
  return {
    name: 'billing.watch_balances',
    everySeconds: 30,
    catchUp: 'skip',
    run: (services) => watchAll(services, releaseLeases),
  };
}

export async function watchAll(services: Services, releaseLeases: ReleaseLeases): Promise<void> {
  const { db, clock } = services;
  const all = await db.transaction().execute((tx) => readFunds(tx, clock.now()));
  for (const { organizationId } of all) {
    // One tenant at a time: a release of many leases holds up nobody else.
    await db.transaction().execute(async (tx) => {
      const funds = await readFunds(tx, clock.now(), organizationId);
      for (const one of funds) await watch(services, tx, one, releaseLeases);
    });
  }
}

async function watch(
  services: Services,
  tx: Tx,
  funds: TenantFunds,
  releaseLeases: ReleaseLeases,
): Promise<void> {
  const { policies, clock } = services;
  const { organizationId, currency } = funds;
  const now = clock.now();
  const row = await tx
    .selectFrom('billing_standings')
    .select(['standing', 'stops_at'])
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .forUpdate()
    .executeTakeFirst();
  const before = { standing: (row?.standing ?? 'good') as Standing, stopsAt: row?.stops_at ?? null };
  const available = availableMicros(funds, policies.get('billing.credit_line_micros', { organizationId }));
  const runsOut = runsOutAt(available, funds.perHourMicros, now);
  const next = decideStanding({
    available,
    runsOutAt: runsOut,
    before,
    warnSeconds: policies.get('billing.low_balance_seconds', { organizationId }),
    graceSeconds: policies.get('billing.grace_seconds', { organizationId }),
    now,
  });
  if (next.standing !== before.standing || !row) {
    await tx
      .insertInto('billing_standings')
      .values({
        organization_id: organizationId,
        currency,
        standing: next.standing,
        since: now,
        stops_at: next.stopsAt,
      })
      .onConflict((c) =>
        c
          .columns(['organization_id', 'currency'])
          .doUpdateSet({ standing: next.standing, since: now, stops_at: next.stopsAt }),
      )
      .execute();
    if (runsOut) await tell(services, tx, funds, { ...next, available, runsOut });
  }
  // Again at every look: what could not be released yet, or was launched in the same moment, must not run on.
  if (next.standing === 'stopped' && funds.perHourMicros > 0n) {
    const released = await releaseLeases(services, tx, { organizationId, currency }, 'The money is used up');
    if (released > 0) await noteStop(tx, organizationId, released);
  }
}

async function tell(
  { policies }: Services,
  tx: Tx,
  funds: TenantFunds,
  next: { standing: Standing; stopsAt: Date | null; available: bigint; runsOut: Date },
): Promise<void> {
  if (next.standing !== 'low' && next.standing !== 'exhausted') return;
  const type = next.standing === 'low' ? 'billing.low_balance_warning' : 'billing.balance_exhausted';
  const { organizationId, currency } = funds;
  const projects = await tx
    .selectFrom('allocation_meters')
    .select('project_id')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .where('ended_at', 'is', null)
    .orderBy('project_id')
    .execute();
  for (const { project_id } of projects) {
    await emit(tx, {
      type,
      subjectId: organizationId,
      organizationId,
      correlationId: newId(),
      payload: {
        organization_id: organizationId,
        project_id,
        currency,
        available_micros: Number(next.available),
        per_hour_micros: Number(funds.perHourMicros),
        runs_out_at: next.runsOut.toISOString(),
        stops_at: next.stopsAt?.toISOString() ?? null,
        at_zero: atZero(policies, organizationId),
      },
    });
  }
}

async function noteStop(tx: Tx, organizationId: string, released: number): Promise<void> {
  await recordAudit(tx, {
    actorUserId: null,
    actorRole: 'platform',
    action: 'billing.stop_leases',
    targetType: 'organization',
    targetId: organizationId,
    result: 'succeeded',
    correlationId: newId(),
    organizationId,
    detail: { released },
  });
}
