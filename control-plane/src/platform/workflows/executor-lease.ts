import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { systemClock } from '../clock.ts';

/** The workflow was handed to another executor while this process slept; the run here must end. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/**
 * The right of this process to run effects. It lasts while heartbeats arrive; when they did not for too long,
 * others take its workflows, and the epoch tells the runs begun before from those begun after.
 */
export class ExecutorLease {
  readonly executorId: string;
  readonly #db: Db;
  readonly #host: string;
  readonly #trustedMs: number;
  #epoch = 0;
  #confirmed = { monotonic: -Infinity, wall: 0 };
  #inFlight = 0;
  #stopping = false;
  #idle: (() => void) | undefined;

  constructor(db: Db, executorId: string, options: { host: string; deadAfterMs: number }) {
    this.#db = db;
    this.executorId = executorId;
    this.#host = options.host;
    this.#trustedMs = options.deadAfterMs / 2;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  async renew(): Promise<void> {
    const sent = { monotonic: performance.now(), wall: systemClock.now().getTime() };
    const row = await this.#db
      .insertInto('workflow_executors')
      .values({ executor_id: this.executorId, host: this.#host })
      .onConflict((c) => c.column('executor_id').doUpdateSet({ heartbeat_at: sql`now()`, lost_at: null }))
      .returning('lost_count')
      .executeTakeFirstOrThrow();
    this.#epoch = row.lost_count;
    this.#confirmed = sent;
  }

  /** The epoch a run begins in. */
  async begin(): Promise<number> {
    await this.#refresh();
    return this.#epoch;
  }

  /** Throws when the workflows of that epoch now belong to somebody else. */
  async confirm(epoch: number): Promise<void> {
    await this.#refresh();
    if (this.#epoch !== epoch) throw new LeaseLostError('the workflow was resumed by another worker');
  }

  /** Counts work that must not be cut off by a stop; once stopping, new work waits for ever and resumes elsewhere. */
  async track<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping) return await new Promise<never>(() => undefined);
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#idle?.();
    }
  }

  /** Lets no new work in. True when what was in flight ended within `graceMs`. */
  async drain(graceMs: number): Promise<boolean> {
    this.#stopping = true;
    if (this.#inFlight === 0) return true;
    const idle = new Promise<boolean>((resolve) => {
      this.#idle = () => resolve(true);
    });
    return await Promise.race([idle, pause(graceMs, false, { ref: false })]);
  }

  /** What this process leaves unfinished is free for the others at once. */
  async giveUp(): Promise<void> {
    await this.#db
      .updateTable('workflow_executors')
      .set({ heartbeat_at: new Date(0), stopped_at: sql`now()` })
      .where('executor_id', '=', this.executorId)
      .execute();
  }

  async #refresh(): Promise<void> {
    while (this.#age() > this.#trustedMs) {
      try {
        await this.renew();
      } catch {
        // Without the database nothing can be confirmed, and nothing can be taken from us either.
        await pause(200);
      }
    }
  }

  /** By both clocks: one stands still while the machine sleeps, the other may be set back. */
  #age(): number {
    return Math.max(
      performance.now() - this.#confirmed.monotonic,
      systemClock.now().getTime() - this.#confirmed.wall,
    );
  }
}
