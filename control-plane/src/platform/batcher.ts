import { channel } from 'node:diagnostics_channel';
import { first } from './present.ts';

/** Channel for finished batches. */
export const BATCHES_CHANNEL = 'gpuaas:groups';
const ended = channel(BATCHES_CHANNEL);

export interface BatchFinished {
  batch: string;
  size: number;
  /** From the arrival of its first item until its start. */
  waitedMs: number;
  failed: boolean;
}

/** Channel for requests that left the batch to be decided individually. */
export const EJECTED_CHANNEL = 'gpuaas:left-groups';
const left = channel(EJECTED_CHANNEL);

export type BatchEjection = { batch: string; reason: 'refused_by_database' | 'contested' | 'unfunded' };

export function publishEjection(message: BatchEjection): void {
  left.publish(message);
}

/** Channel for batches retried on the slow path after a conflict. */
export const RETRIED_BATCHES_CHANNEL = 'gpuaas:reconsidered-groups';
const reconsidered = channel(RETRIED_BATCHES_CHANNEL);

export type BatchRetried = { batch: string; size: number };

export function publishBatchRetried(message: BatchRetried): void {
  reconsidered.publish(message);
}

export interface BatcherOptions {
  /** Name of the batcher in metrics. */
  batch: string;
  size: number;
  underWay: number;
}

interface Waiting<I, O> {
  item: I;
  since: number;
  resolve: (outcome: O) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects items that arrive while batches are running into the next batch. The more arrive, the larger the
 * batches and the lower the cost of each; a single item does not wait.
 */
export class Batcher<I, O> {
  readonly #commit: (items: I[]) => Promise<O[]>;
  readonly #limits: BatcherOptions;
  #waiting: Waiting<I, O>[] = [];
  #underWay = 0;
  /** Number of batches so far. */
  groups = 0;

  /** With two `underWay` one is decided while the other is written to disk. */
  constructor(commit: (items: I[]) => Promise<O[]>, limits: BatcherOptions) {
    this.#commit = commit;
    this.#limits = limits;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject });
      // Items that arrive in one turn of the event loop share a batch.
      if (this.#waiting.length === 1) setImmediate(() => this.#begin());
    });
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#underWay < this.#limits.underWay) {
      this.#underWay += 1;
      void this.#run(this.#waiting.splice(0, this.#limits.size));
    }
  }

  async #run(group: Waiting<I, O>[]): Promise<void> {
    this.groups += 1;
    const waitedMs = performance.now() - first(group, 'member of the group').since;
    let failed = false;
    try {
      const outcomes = await this.#commit(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(outcomes[index]!));
    } catch (error) {
      failed = true;
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      ended.publish({
        batch: this.#limits.batch,
        size: group.length,
        waitedMs,
        failed,
      } satisfies BatchFinished);
      this.#begin();
    }
  }
}
