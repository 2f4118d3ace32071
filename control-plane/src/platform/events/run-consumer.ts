import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import { newId } from '../ids.ts';
import { sanitizeText } from '@gpuaas/contracts/sanitize';
import type { Logger } from '../telemetry/logger.ts';
import type { Consumption } from './consumer.ts';
import {
  advance,
  LEASE_SECONDS,
  recordFailure,
  registerConsumer,
  releaseLease,
  takeLease,
  type ConsumerState,
} from './consumer-lease.ts';
import type { Cursor, LoggedEvent } from './event-log.ts';
import type { EventSource } from './log-follower.ts';

const BATCH = 200;
const RENEW_MS = (LEASE_SECONDS * 1000) / 3;
const ELECTION_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
/**
 * For consumers that nobody waits for. The first event after a silence is handled at once; what follows is gathered for
 * so long, because reading and moving the cursor cost as much for one event as for many.
 */
export const GATHER_MS = 100;

export interface RunnableConsumer {
  name: string;
  startFrom: 'beginning' | 'now';
  /** Opened each time the lease is won, and closed when it is lost or reading failed. */
  openSource(state: ConsumerState): Promise<EventSource>;
  /** Handles events in order and calls `done` after each; a throw repeats what is not done. */
  handleBatch(events: LoggedEvent[], done: (event: LoggedEvent) => void, signal: AbortSignal): Promise<void>;
  /** The pause between two batches, unless there is more than a batch to do. */
  gatherMs?: number;
}

/** Competes for the consumer's lease and, while it holds it, reads, handles and moves the cursor. */
export async function runConsumer(db: Db, log: Logger, consumer: RunnableConsumer): Promise<Consumption> {
  await registerConsumer(db, consumer.name, consumer.startFrom);
  const stop = new AbortController();
  const runner = `${hostname()}-${process.pid}-${newId()}`;
  const done = compete({
    db,
    log: log.child({ consumer: consumer.name }),
    consumer,
    runner,
    signal: stop.signal,
  });
  return {
    async stop() {
      stop.abort();
      await done;
    },
  };
}

interface Run {
  db: Db;
  log: Logger;
  consumer: RunnableConsumer;
  runner: string;
  signal: AbortSignal;
}

async function compete(run: Run): Promise<void> {
  const { db, consumer, runner, signal } = run;
  while (!signal.aborted) {
    try {
      const state = await takeLease(db, consumer.name, runner);
      if (state) await lead(run, state);
      else await pause(ELECTION_MS, signal);
    } catch (error) {
      if (signal.aborted) break;
      await holdBack(run, error);
    }
  }
  await releaseLease(db, consumer.name, runner).catch(() => undefined);
}

/** Runs until the process stops, the lease is lost or something throws. */
async function lead(run: Run, state: ConsumerState): Promise<void> {
  const { db, consumer, runner } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([run.signal, lost.signal]);
  const renewal = setInterval(() => {
    void takeLease(db, consumer.name, runner).then(
      (kept) => kept ?? lost.abort(),
      () => undefined,
    );
  }, RENEW_MS);
  let source: EventSource | undefined;
  try {
    source = await consumer.openSource(state);
    let { cursor } = state;
    while (!signal.aborted) {
      const events = await source.next(cursor, BATCH, signal);
      if (events.length === 0) continue;
      cursor = await handle(run, events, cursor, signal);
      if (consumer.gatherMs && events.length < BATCH) await pause(consumer.gatherMs, signal);
    }
  } finally {
    clearInterval(renewal);
    await source?.close().catch(() => undefined);
  }
}

async function handle(run: Run, events: LoggedEvent[], from: Cursor, signal: AbortSignal): Promise<Cursor> {
  const { db, consumer, runner } = run;
  let cursor = from;
  const failure = await consumer
    .handleBatch(events, (event) => (cursor = event.cursor), signal)
    .then(() => null)
    .catch((error: unknown) => ({ error }));
  // What was done counts, also when the next event failed.
  if (cursor !== from && !(await advance(db, consumer.name, runner, cursor))) throw new LeaseLost();
  if (failure) throw failure.error;
  return cursor;
}

class LeaseLost extends Error {
  constructor() {
    super('another process runs this consumer now');
    this.name = 'LeaseLost';
  }
}

async function holdBack({ db, log, consumer, runner, signal }: Run, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) return;
  const message = sanitizeText(error instanceof Error ? error.message : String(error)).slice(0, 500);
  const failures = await recordFailure(db, consumer.name, runner, message).catch(() => 4);
  const delay = Math.min(100 * 2 ** failures, MAX_BACKOFF_MS);
  log.warn({ err: error, failures, retry_in_ms: delay }, 'consumer is held at an event; trying again');
  // The lease is given up meanwhile only if it runs out: another process would meet the same event.
  await pause(delay, signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
