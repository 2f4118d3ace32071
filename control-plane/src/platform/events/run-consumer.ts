import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import { newId } from '../ids.ts';
import { sanitizeText } from '@gpuaas/contracts/sanitize';
import type { Logger } from '../telemetry/logger.ts';
import type { Consumption } from './consumer.ts';
import {
  advanceCursor,
  LEASE_SECONDS,
  recordFailure,
  registerConsumer,
  releaseLease,
  acquireLease,
  type ConsumerState,
} from './consumer-lease.ts';
import type { Cursor, LoggedEvent } from './event-log.ts';
import type { EventSource } from './log-follower.ts';
import { eventsToRetry, parkEvent, settleRetry } from './parked-events.ts';

const BATCH = 200;
const RENEW_MS = (LEASE_SECONDS * 1000) / 3;
const ELECTION_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
/**
 * For consumers without a waiting person. The first event after a pause is handled immediately; later ones
 * are collected for this long, because reading and moving the cursor cost as much for one event as for many.
 */
export const BATCH_WINDOW_MS = 100;

export interface RunnableConsumer {
  name: string;
  startFrom: 'beginning' | 'now';
  /** Opened each time the lease is won, and closed when it is lost or a read failed. */
  openSource(state: ConsumerState): Promise<EventSource>;
  /** Handles events in order and calls `done` after each; a throw repeats those that are not done. */
  handleBatch(events: LoggedEvent[], done: (event: LoggedEvent) => void, signal: AbortSignal): Promise<void>;
  /** Pause between two batches, unless more than a batch is due. */
  gatherMs?: number;
  /**
   * How often one event may fail before it is parked. Without it the consumer waits, which is right if the
   * fault is not in the event: a relay must not skip events because its server is away.
   */
  parkAfter?: () => number;
}

/** Competes for the consumer's lease; while it holds the lease, it reads, handles and moves the cursor. */
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
    held: null,
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
  /** The event that holds the consumer, and how often it failed here. */
  held: { eventId: string; failures: number } | null;
}

async function compete(run: Run): Promise<void> {
  const { db, consumer, runner, signal } = run;
  while (!signal.aborted) {
    try {
      const state = await acquireLease(db, consumer.name, runner);
      if (state) await lead(run, state);
      else await pause(ELECTION_MS, signal);
    } catch (error) {
      if (signal.aborted) break;
      await holdBack(run, error);
    }
  }
  await releaseLease(db, consumer.name, runner).catch(() => undefined);
}

/** Runs until the process stops, the lease is lost or an error is thrown. */
async function lead(run: Run, state: ConsumerState): Promise<void> {
  const { db, consumer, runner } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([run.signal, lost.signal]);
  const renewal = setInterval(() => {
    void acquireLease(db, consumer.name, runner).then(
      (kept) => kept ?? lost.abort(),
      () => undefined,
    );
  }, RENEW_MS);
  let source: EventSource | undefined;
  try {
    source = await consumer.openSource(state);
    let { cursor } = state;
    while (!signal.aborted) {
      await retryParked(run, signal);
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
  let done = 0;
  const failure = await consumer
    .handleBatch(
      events,
      (event) => {
        cursor = event.cursor;
        done = events.indexOf(event) + 1;
      },
      signal,
    )
    .then(() => null)
    .catch((error: unknown) => ({ error }));
  // Handled events count, also if the next event failed.
  if (cursor !== from && !(await advanceCursor(db, consumer.name, runner, cursor))) throw new LeaseLost();
  if (!failure) return cursor;
  const event = events[done];
  if (event && (await park(run, event, failure.error))) return event.cursor;
  throw failure.error;
}

/** Parks an event that has failed too often; false while it is retried. */
async function park(run: Run, event: LoggedEvent, cause: unknown): Promise<boolean> {
  const { db, log, consumer, runner } = run;
  if (!consumer.parkAfter) return false;
  const eventId = event.envelope.event_id;
  const failures = run.held?.eventId === eventId ? run.held.failures + 1 : 1;
  run.held = { eventId, failures };
  if (failures < consumer.parkAfter()) return false;
  const error = messageOf(cause);
  if (!(await parkEvent(db, consumer.name, runner, { event, failures, error }))) throw new LeaseLost();
  run.held = null;
  log.error({ err: cause, event_id: eventId, failures }, 'event parked; the consumer goes on without it');
  return true;
}

/** Retries events at an operator's request. Other events of the consumer do not wait for the outcome. */
async function retryParked({ db, consumer, log }: Run, signal: AbortSignal): Promise<void> {
  if (!consumer.parkAfter) return;
  for (const { id, event } of await eventsToRetry(db, consumer.name)) {
    const failure = await consumer
      .handleBatch([event], () => undefined, signal)
      .then(() => null)
      .catch((error: unknown) => ({ error }));
    if (signal.aborted) return;
    await settleRetry(db, id, failure && messageOf(failure.error));
    if (failure) log.warn({ err: failure.error, parked_event_id: id }, 'a parked event failed again');
  }
}

class LeaseLost extends Error {
  constructor() {
    super('another process runs this consumer now');
    this.name = 'LeaseLost';
  }
}

async function holdBack({ db, log, consumer, runner, signal }: Run, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) return;
  const failures = await recordFailure(db, consumer.name, runner, messageOf(error)).catch(() => 4);
  const delay = Math.min(100 * 2 ** failures, MAX_BACKOFF_MS);
  log.warn({ err: error, failures, retry_in_ms: delay }, 'consumer is held at an event; trying again');
  // The lease is kept meanwhile unless it expires: another process would fail at the same event.
  await pause(delay, signal);
}

function messageOf(error: unknown): string {
  return sanitizeText(error instanceof Error ? error.message : String(error)).slice(0, 500);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
