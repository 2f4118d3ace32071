import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { systemClock } from '../clock.ts';

/** The workflow was handed to another executor while this process slept; the run here must end. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/**
 * The right of this process to run effects. It lasts while heartbeats arrive; after a gap, other processes
 * take its workflows, and the epoch separates runs started before from those started after.
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

  /** The epoch in which a run starts. */
  async begin(): Promise<number> {
    await this.#refresh();
    return this.#epoch;
  }

  /** Throws if the workflows of that epoch now belong to another executor. */
  async confirm(epoch: number): Promise<void> {
    await this.#refresh();
    if (this.#epoch !== epoch) throw new LeaseLostError('the workflow was resumed by another worker');
  }

  /**
   * Counts work that a stop must not cut off; once stopping, new work waits indefinitely and resumes
   * elsewhere.
   */
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

  /** Admits no new work. True if work in flight ended within `graceMs`. */
  async drain(graceMs: number): Promise<boolean> {
    this.#stopping = true;
    if (this.#inFlight === 0) return true;
    const idle = new Promise<boolean>((resolve) => {
      this.#idle = () => resolve(true);
    });
    return await Promise.race([idle, pause(graceMs, false, { ref: false })]);
  }

  /** Frees unfinished workflows of this process for other executors immediately. */
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
        // Without the database nothing can be confirmed, and no other process can take the workflows either.
        await pause(200);
      }
    }
  }

  /** By both clocks: one stops while the machine sleeps, the other may be set back. */
  #age(): number {
    return Math.max(
      performance.now() - this.#confirmed.monotonic,
      systemClock.now().getTime() - this.#confirmed.wall,
    );
  }
}
