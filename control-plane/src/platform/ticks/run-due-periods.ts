import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { duePeriods, type Period } from './periods.ts';
import type { Tick } from './tick.ts';

export interface TickContext<Services> {
  db: Db;
  services: Services;
  now: Date;
  runner: string;
  /** Checked between periods, so that a long catch-up does not delay a stop. */
  stopping(): boolean;
}

export interface TickOutcome {
  ran: Period[];
  /** The period that failed; later ones wait for it. */
  failed: { period: Period; attempts: number; error: unknown } | null;
}

const NOTHING: TickOutcome = { ran: [], failed: null };
const MAX_RETRY_SECONDS = 60;

/**
 * Runs the due periods of one tick, unless another process does. The lock lives as long as its transaction,
 * and so as long as its process; the transaction writes nothing, so it blocks no other.
 */
export async function runDuePeriods<Services>(
  tick: Tick<Services>,
  context: TickContext<Services>,
): Promise<TickOutcome> {
  if ((await unfinished(tick, context)).periods.length === 0) return NOTHING;
  return await context.db.transaction().execute(async (lock) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`tick:${tick.name}`}, 0)) as held`.execute(lock);
    if (!rows[0]?.held) return NOTHING;
    // Read again under the lock: the previous runner may have finished them.
    const { periods, skipped } = await unfinished(tick, context);
    const ran: Period[] = [];
    for (const [index, period] of periods.entries()) {
      if (context.stopping()) break;
      const failed = await runPeriod(tick, context, period, index === 0 ? skipped : 0);
      if (failed) return { ran, failed };
      ran.push(period);
    }
    return { ran, failed: null };
  });
}

async function unfinished<Services>(tick: Tick<Services>, { db, now }: TickContext<Services>) {
  const { lastDone, firstBegun } = await db
    .selectFrom('tick_runs')
    .select((e) => [
      e.fn.max('period_start').filterWhere('finished_at', 'is not', null).as('lastDone'),
      e.fn.min('period_start').as('firstBegun'),
    ])
    .where('tick', '=', tick.name)
    .executeTakeFirstOrThrow();
  // Started and never finished: the very first period is due like any other.
  const owedSince = firstBegun && new Date(firstBegun.getTime() - tick.everySeconds * 1000);
  const due = duePeriods(tick, lastDone ?? owedSince, now);
  const first = due.periods[0];
  if (!first) return due;
  const failure = await db
    .selectFrom('tick_runs')
    .select(['attempts', 'started_at'])
    .where('tick', '=', tick.name)
    .where('period_start', '=', first.from)
    .where('error', 'is not', null)
    .executeTakeFirst();
  const wait = failure ? Math.min(MAX_RETRY_SECONDS, 2 ** failure.attempts) * 1000 : 0;
  return failure && now.getTime() < failure.started_at.getTime() + wait ? { periods: [], skipped: 0 } : due;
}

async function runPeriod<Services>(
  tick: Tick<Services>,
  context: TickContext<Services>,
  period: Period,
  skipped: number,
): Promise<TickOutcome['failed']> {
  const { db, services, now, runner } = context;
  const row = await db
    .insertInto('tick_runs')
    .values({
      tick: tick.name,
      period_start: period.from,
      period_end: period.to,
      runner,
      skipped_periods: skipped,
      started_at: now,
    })
    .onConflict((c) =>
      c
        .columns(['tick', 'period_start'])
        .doUpdateSet({ runner, started_at: now, error: null, attempts: sql`tick_runs.attempts + 1` }),
    )
    .returning('attempts')
    .executeTakeFirstOrThrow();
  let failure: unknown = null;
  try {
    await tick.run(services, period);
  } catch (error) {
    failure = error ?? new Error('the tick failed without a reason');
  }
  await db
    .updateTable('tick_runs')
    .set(failure === null ? { finished_at: sql`clock_timestamp()` } : { error: messageOf(failure) })
    .where('tick', '=', tick.name)
    .where('period_start', '=', period.from)
    .execute();
  return failure === null ? null : { period, attempts: row.attempts, error: failure };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000);
}
