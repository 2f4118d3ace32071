import { sql } from 'kysely';
import { monthStart } from '../../platform/clock.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { buildStatement, type Names, type StatementDocument } from './build-statement.ts';
import { readFacts } from './read-facts.ts';
import { one } from '../../platform/db/one.ts';

const BATCH = 200;

/**
 * Closes months that are over: their ledger so far becomes the statement, and later entries belong to the
 * next one.
 */
export const closeMonths: Tick<Services> = {
  name: 'statements.close_months',
  everySeconds: 900,
  catchUp: 'skip',
  run: async (services) => {
    await closeAllMonths(services);
  },
};

interface Due {
  organization_id: string;
  currency: string;
  month: string;
}

/** Safe to repeat and to run concurrently: a month is closed once. Returns the number closed. */
export async function closeAllMonths(
  services: Pick<Services, 'db' | 'clock' | 'policies' | 'log'>,
): Promise<number> {
  const { db, clock, policies, log } = services;
  const settled = new Date(clock.now().getTime() - policies.get('statements.close_after_seconds') * 1000);
  const before = monthStart(settled);
  let closed = 0;
  for (;;) {
    const due = await dueMonths(db, before);
    for (const one of due) {
      if (await db.transaction().execute((tx) => closeMonth(tx, one, clock.now()))) closed += 1;
    }
    if (due.length < BATCH) break;
  }
  if (closed > 0) log.info({ closed }, 'months were closed');
  return closed;
}

/** The next month of each tenant and currency that is over: after its last statement, or that of its first transaction. */
async function dueMonths(db: Services['db'], before: Date): Promise<Due[]> {
  const { rows } = await sql<Due>`
    with accounts as (
      select b.organization_id, b.currency,
        coalesce(
          (select max(s.month) + interval '1 month' from statements s
            where s.organization_id = b.organization_id and s.currency = b.currency),
          (select date_trunc('month', min(t.posted_at) at time zone 'utc') from ledger_transactions t
            where t.organization_id = b.organization_id and t.currency = b.currency)) as month
      from balance_snapshots b
    )
    select organization_id, currency, to_char(month, 'YYYY-MM') as month from accounts
    where month < ${before.toISOString().slice(0, 10)}::date order by month, 1, 2 limit ${BATCH}`.execute(db);
  return rows;
}

/** False if another process was first. */
async function closeMonth(tx: Tx, due: Due, now: Date): Promise<boolean> {
  const { organization_id, currency, month } = due;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`statements:${organization_id}`}, 0))`.execute(
    tx,
  );
  const row = await one(
    sql<{ last: string | null; opening: bigint; places: bigint; organization: string }>`
    select to_char(max(month) filter (where currency = ${currency}), 'YYYY-MM') as last, count(*) as places,
      coalesce((select closing_micros from statements where organization_id = ${organization_id}
        and currency = ${currency} order by month desc limit 1), 0) as opening,
      (select name from organizations where id = ${organization_id}) as organization
    from statements where organization_id = ${organization_id}`,
    tx,
  );
  const { last, opening, places, organization } = row;
  if (last !== null && last >= month) return false;
  const id = newId();
  // In one statement, so that only member transactions are counted. Later transactions find the month closed.
  await sql`
    insert into statement_transactions (transaction_id, statement_id, organization_id, currency)
    select t.id, ${id}, t.organization_id, t.currency from ledger_transactions t
    where t.organization_id = ${organization_id} and t.currency = ${currency}
      and t.posted_at < ((${`${month}-01`}::date + interval '1 month') at time zone 'utc')
      and not exists (select from statement_transactions s where s.transaction_id = t.id)`.execute(tx);
  const facts = await readFacts(tx, id);
  const document = buildStatement({
    id,
    number: `${month}-${organization_id.slice(-6).toUpperCase()}-${String(places + 1n).padStart(3, '0')}`,
    organizationId: organization_id,
    currency,
    month,
    closedAt: now,
    openingMicros: opening,
    names: await namesOf(tx, organization, facts),
    ...facts,
  });
  await tx
    .insertInto('statements')
    .values({
      id,
      organization_id,
      currency,
      month: `${month}-01`,
      number: document.number,
      opening_micros: opening,
      closing_micros: BigInt(document.closing_balance.micros),
      document: JSON.stringify(document),
      closed_at: now,
    })
    .execute();
  await emitIssued(tx, document);
  return true;
}

async function emitIssued(tx: Tx, statement: StatementDocument): Promise<void> {
  await emit(tx, {
    type: 'billing.statement_closed',
    subjectId: statement.id,
    organizationId: statement.organization_id,
    correlationId: newId(),
    payload: {
      statement_id: statement.id,
      organization_id: statement.organization_id,
      number: statement.number,
      month: statement.month,
      currency: statement.currency,
      closing_micros: statement.closing_balance.micros,
    },
  });
}

async function namesOf(
  tx: Tx,
  organization: string,
  { usage, appUsage }: Awaited<ReturnType<typeof readFacts>>,
): Promise<Names> {
  const allocations = [...new Set(usage.map(({ allocationId }) => allocationId))];
  const projects = [...new Set([...usage, ...appUsage].map(({ projectId }) => projectId))];
  const { rows: leases } = await sql<{ id: string; name: string }>`
    select id, name from allocations where id = any (${allocations})`.execute(tx);
  const { rows: names } = await sql<{ id: string; name: string }>`
    select id, name from projects where id = any (${projects})`.execute(tx);
  return {
    organization,
    projects: new Map(names.map(({ id, name }) => [id, name])),
    allocations: new Map(leases.map(({ id, name }) => [id, name])),
  };
}
