import { graceSeconds } from './zero-balance-notice.ts';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId, NIL_ID } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { decideStanding, type Standing } from './decide-standing.ts';
import { emitBalanceEvent, emitLeasesStopped, type StandingDecision } from './emit-balance-events.ts';
import { availableMicros, readFunds, readFundsPage, runsOutAt, type TenantFunds } from './tenant-funds.ts';

/** Tenants checked in one statement; memory stays bounded for any number of tenants. */
const BATCH = 1000;

/** Releases a tenant's leases. The allocations domain implements it; the roles connect the two. */
export type ReleaseLeases = (
  services: Services,
  tx: Tx,
  leases: {
    organizationId: string;
    currency: string;
    /** All allocations of the tenant if no narrower scope is given. */
    scopeType?: 'tenant' | 'project' | 'team' | 'user';
    scopeId?: string;
  },
  why: string,
  cause: 'balance' | 'budget',
) => Promise<number>;

/** Warns when funds run low, and stops leases when funds and grace are exhausted. */
export function watchBalances(releaseLeases: ReleaseLeases): Tick<Services> {
  return {
    name: 'billing.watch_balances',
    everySeconds: 30,
    catchUp: 'skip',
    run: (services) => checkAllBalances(services, releaseLeases),
  };
}

/** Checks all tenants page by page; only those that need a warning or a stop get a transaction. */
export async function checkAllBalances(services: Services, releaseLeases: ReleaseLeases): Promise<void> {
  const { db, clock } = services;
  let after = NIL_ID;
  for (;;) {
    const looks = await db.transaction().execute(async (tx) => {
      const funds = await readFundsPage(tx, clock.now(), { after, tenants: BATCH });
      return decideAll(services, funds, await standingsOf(tx, funds));
    });
    const last = looks.at(-1)?.funds.organizationId;
    if (last === undefined) return;
    for (const { funds } of looks.filter(({ act }) => act)) await settle(services, funds, releaseLeases);
    after = last;
  }
}

interface Before {
  standing: Standing;
  stopsAt: Date | null;
  /** The tenant was notified of this standing. */
  notified: boolean;
}

/** A tenant without a row has never run low. */
const UNTROUBLED: Before = { standing: 'good', stopsAt: null, notified: false };

interface Look extends StandingDecision {
  funds: TenantFunds;
  before: Before;
  changes: boolean;
  tells: boolean;
  act: boolean;
}

function decideAll(services: Services, funds: TenantFunds[], standings: Map<string, Before>): Look[] {
  return funds.map((one) => decide(services, one, standings.get(rowKey(one)) ?? UNTROUBLED));
}

function decide({ policies, clock }: Services, funds: TenantFunds, before: Before): Look {
  const { organizationId } = funds;
  const available = availableMicros(funds, policies.get('billing.credit_line_micros', { organizationId }));
  const runsOut = runsOutAt(available, funds.perHourMicros, clock.now());
  const next = decideStanding({
    available,
    runsOutAt: runsOut,
    before,
    warnSeconds: policies.get('billing.low_balance_seconds', { organizationId }),
    graceSeconds: graceSeconds(policies, organizationId, funds.paid),
    now: clock.now(),
  });
  const changes = next.standing !== before.standing;
  const inNeed = next.standing === 'low' || next.standing === 'exhausted';
  const tells = inNeed && runsOut !== null && (changes || !before.notified);
  const stops = next.standing === 'stopped' && funds.perHourMicros > 0n;
  return { funds, before, ...next, available, runsOut, changes, tells, act: changes || tells || stops };
}

/** Decides again with the tenant's row locked, so that each action happens once. */
async function settle(
  services: Services,
  { organizationId, currency }: TenantFunds,
  releaseLeases: ReleaseLeases,
): Promise<void> {
  const { db, clock } = services;
  await db.transaction().execute(async (tx) => {
    const now = clock.now();
    await tx
      .insertInto('billing_standings')
      .values({ organization_id: organizationId, currency, standing: 'good', since: now })
      .onConflict((c) => c.columns(['organization_id', 'currency']).doNothing())
      .execute();
    const row = await lockStanding(tx, organizationId, currency);
    const funds = (await readFunds(tx, now, organizationId)).find((one) => one.currency === currency);
    if (!funds) return;
    const look = decide(services, funds, beforeOf(row));
    if (look.changes || look.tells) {
      await tx
        .updateTable('billing_standings')
        .set({
          standing: look.standing,
          stops_at: look.stopsAt,
          since: look.changes ? now : row.since,
          told_at: look.tells ? now : look.changes ? null : row.told_at,
        })
        .where('organization_id', '=', organizationId)
        .where('currency', '=', currency)
        .execute();
    }
    if (look.tells) await emitBalanceEvent(services, tx, funds, look);
    // Repeat at every check: leases that could not be released yet, or were launched in the same moment, must
    // stop too.
    if (look.standing === 'stopped' && funds.perHourMicros > 0n) {
      const leases = { organizationId, currency };
      const released = await releaseLeases(services, tx, leases, 'The balance is exhausted', 'balance');
      if (released > 0) await noteStop(tx, organizationId, released);
      if (released > 0) await emitLeasesStopped(tx, funds, look.available, released);
    }
  });
}

async function lockStanding(tx: Tx, organizationId: string, currency: string) {
  return await tx
    .selectFrom('billing_standings')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('currency', '=', currency)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

async function standingsOf(tx: Tx, funds: TenantFunds[]): Promise<Map<string, Before>> {
  const [first, last] = [funds[0], funds.at(-1)];
  if (!first || !last) return new Map();
  const rows = await tx
    .selectFrom('billing_standings')
    .selectAll()
    .where('organization_id', '>=', first.organizationId)
    .where('organization_id', '<=', last.organizationId)
    .execute();
  return new Map(
    rows.map((row) => [
      rowKey({ organizationId: row.organization_id, currency: row.currency }),
      beforeOf(row),
    ]),
  );
}

function rowKey({ organizationId, currency }: Pick<TenantFunds, 'organizationId' | 'currency'>): string {
  return `${organizationId} ${currency}`;
}

function beforeOf(row: { standing: Standing; stops_at: Date | null; told_at: Date | null }): Before {
  return { standing: row.standing, stopsAt: row.stops_at, notified: row.told_at !== null };
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
