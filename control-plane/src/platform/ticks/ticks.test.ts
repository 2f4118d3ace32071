import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../db/database.ts';
import { createTestDatabase } from '../db/testing.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { Period } from './periods.ts';
import { pruneRuns } from './prune-runs.ts';
import { runDuePeriods, type TickOutcome } from './run-due-periods.ts';
import type { Tick } from './tick.ts';
import { startTickRunner } from './tick-runner.ts';

let test: { url: string; drop(): Promise<void> };
/** Two pools as two processes have them. */
let one: Database;
let two: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  one = openDatabase(test.url);
  two = openDatabase(test.url);
});
afterAll(async () => {
  await one?.close();
  await two?.close();
  await test?.drop();
});

const start = new Date('2026-11-15T10:00:00Z');
const after = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);

function recorder(
  name: string,
  catchUp: Tick<object>['catchUp'],
  work: () => Promise<void> = async () => undefined,
) {
  const periods: number[] = [];
  let running = 0;
  let together = 0;
  const tick: Tick<object> = {
    name,
    everySeconds: 10,
    catchUp,
    async run(_services, period) {
      running += 1;
      together = Math.max(together, running);
      try {
        await work();
        periods.push((period.to.getTime() - start.getTime()) / 1000);
      } finally {
        running -= 1;
      }
    },
  };
  return { tick, periods, mostTogether: () => together };
}

function run(database: Database, tick: Tick<object>, now: Date): Promise<TickOutcome> {
  return runDuePeriods(tick, {
    db: database.db,
    services: {},
    now,
    runner: database === one ? 'one' : 'two',
    stopping: () => false,
  });
}

it('runs each period once, one runner at a time, with any number of processes', async () => {
  const { tick, periods, mostTogether } = recorder('once', 'each', () => pause(20));
  for (const second of [0, 3, 10, 11, 20]) {
    await Promise.all([one, two, one, two, one, two].map((database) => run(database, tick, after(second))));
  }
  expect(periods).toEqual([0, 10, 20]);
  expect(mostTogether()).toBe(1);
});

it('catches up each missed period in order', async () => {
  const { tick, periods } = recorder('each', 'each');
  await run(one, tick, after(0));
  await Promise.all([run(one, tick, after(45)), run(two, tick, after(45))]);
  expect(periods).toEqual([0, 10, 20, 30, 40]);
});

it('skips missed periods where that is declared, and counts them', async () => {
  const { tick, periods } = recorder('skip', 'skip');
  await run(one, tick, after(0));
  await run(two, tick, after(45));
  expect(periods).toEqual([0, 40]);
  const rows = await one.db
    .selectFrom('tick_runs')
    .select(['runner', 'skipped_periods'])
    .where('tick', '=', 'skip')
    .orderBy('period_start')
    .execute();
  expect(rows).toEqual([
    { runner: 'one', skipped_periods: 0 },
    { runner: 'two', skipped_periods: 3 },
  ]);
});

it('tries a failed period again before the next, with pauses that grow', async () => {
  let broken = true;
  const { tick, periods } = recorder('failing', 'each', async () => {
    if (broken) throw new Error('no connection');
  });
  expect((await run(one, tick, after(0))).failed?.attempts).toBe(1);
  expect((await run(two, tick, after(1))).failed).toBeNull();
  expect((await run(two, tick, after(2))).failed?.attempts).toBe(2);
  expect((await run(two, tick, after(5))).failed).toBeNull();
  broken = false;
  await run(one, tick, after(13));
  expect(periods).toEqual([0, 10]);
});

it('runs a period again whose runner died in it', async () => {
  const { tick, periods } = recorder('died', 'each');
  await one.db
    .insertInto('tick_runs')
    .values({
      tick: tick.name,
      period_start: after(-10),
      period_end: after(0),
      runner: 'dead',
      started_at: after(0),
    })
    .execute();
  await run(two, tick, after(1));
  expect(periods).toEqual([0]);
});

it('lets another process take over when the runner is killed while it holds the lock', async () => {
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'testing', 'hang-in-tick.ts')], {
    env: { ...process.env, DATABASE_URL: test.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const { tick, periods } = recorder('hang', 'each');
  expect((await run(one, tick, after(1))).ran).toEqual([]);
  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  await expect.poll(() => run(one, tick, after(1)).then(() => periods)).toEqual([0]);
});

it('keeps looking until it is stopped, by the clock it is given', async () => {
  const { tick, periods } = recorder('loop', 'each');
  let now = after(0);
  const log = createLogger('test');
  log.level = 'silent';
  const failing: string[] = [];
  const broken: Tick<object> = {
    ...tick,
    name: 'broken',
    run: () => Promise.reject(new Error('broken')),
  };
  const runner = startTickRunner({
    db: one.db,
    clock: { now: () => now },
    services: {},
    ticks: [broken, tick],
    runner: 'loop',
    log,
    pollMs: 10,
    onFailing: async (failure) => void failing.push(failure.tick),
  });
  await expect.poll(() => periods).toEqual([0]);
  now = after(20);
  await expect.poll(() => periods).toEqual([0, 10, 20]);
  await runner.stop();
  expect(failing).toContain('broken');
  now = after(30);
  await pause(50);
  expect(periods).toEqual([0, 10, 20]);
});

it('leaves connections to work with, however many ticks there are', async () => {
  const small = openDatabase(test.url, { max: 6 });
  const done = new Set<string>();
  const ticks = Array.from({ length: 24 }, (_, index): Tick<object> => {
    const name = `many-${index}`;
    return {
      name,
      everySeconds: 10,
      catchUp: 'skip',
      run: async () =>
        void done.add((await small.db.selectNoFrom((e) => e.val(name).as('n')).execute())[0]!.n),
    };
  });
  const log = createLogger('test');
  log.level = 'silent';
  const clock = { now: () => after(0) };
  const runner = startTickRunner({
    db: small.db,
    clock,
    services: {},
    ticks,
    runner: 'many',
    log,
    pollMs: 10,
  });
  await expect.poll(() => done.size).toBe(24);
  await runner.stop();
  await small.close();
});

it('forgets old runs but for the newest of each tick', async () => {
  const { tick } = recorder('old', 'each');
  await run(one, tick, after(0));
  await run(one, tick, after(20));
  const period: Period = { from: after(0), to: after(30 * 86_400) };
  await pruneRuns.run({ db: one.db }, period);
  const rows = await one.db
    .selectFrom('tick_runs')
    .select('period_start')
    .where('tick', '=', 'old')
    .execute();
  expect(rows).toEqual([{ period_start: after(10) }]);
});
