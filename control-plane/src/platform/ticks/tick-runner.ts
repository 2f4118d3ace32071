import { limitConcurrency } from '../limit-concurrency.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { repeat } from '../repeat.ts';
import { runDuePeriods, type TickOutcome } from './run-due-periods.ts';
import type { Tick } from './tick.ts';

export interface FailingTick {
  tick: string;
  attempts: number;
  error: unknown;
}

export interface TickRunnerOptions<Services> {
  db: Db;
  clock: Clock;
  services: Services;
  ticks: readonly Tick<Services>[];
  /** Names this process in `tick_runs`. */
  runner: string;
  log: Logger;
  onFailing?: (failing: FailingTick) => Promise<void>;
  pollMs?: number;
}

const POLL_MS = 1000;
/**
 * A running tick has a connection for its lock and needs another one: with as many running ticks as the pool
 * has connections, all would deadlock.
 */
const AT_WORK = 5;

/** Polls for due periods for the life of the process. Any number of processes may run it. */
export function startTickRunner<Services>(options: TickRunnerOptions<Services>): { stop(): Promise<void> } {
  let stopping = false;
  const complain = (error: unknown): void =>
    options.log.warn({ err: error }, 'ticks could not be looked for');
  const inTurn = limitConcurrency(AT_WORK);
  // One loop each: a slow tick does not delay others as long as few are slow.
  const loops = options.ticks.map((tick) =>
    repeat(
      options.pollMs ?? POLL_MS,
      () => inTurn(() => (stopping ? Promise.resolve() : poll(options, tick, () => stopping))),
      complain,
    ),
  );
  return {
    async stop() {
      stopping = true;
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function poll<Services>(
  options: TickRunnerOptions<Services>,
  tick: Tick<Services>,
  stopping: () => boolean,
): Promise<void> {
  const { db, clock, services, runner, log } = options;
  const { failed } = await runDuePeriods(tick, { db, services, runner, now: clock.now(), stopping });
  if (failed) await reportFailure(options, tick.name, failed, log);
}

async function reportFailure<Services>(
  { onFailing }: TickRunnerOptions<Services>,
  tick: string,
  { attempts, error }: NonNullable<TickOutcome['failed']>,
  log: Logger,
): Promise<void> {
  log.warn({ err: error, tick, attempts }, 'tick failed; trying again');
  await onFailing?.({ tick, attempts, error });
}
