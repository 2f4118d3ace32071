import { channel } from 'node:diagnostics_channel';

/** Where every group is told of that has ended. */
export const GROUPS_CHANNEL = 'gpuaas:groups';
const ended = channel(GROUPS_CHANNEL);

export interface GroupSeen {
  desk: string;
  size: number;
  /** From the arrival of its first until it began. */
  waitedMs: number;
  failed: boolean;
}

/** Where everybody is told of whom no group could decide. */
export const LEFT_CHANNEL = 'gpuaas:left-groups';
const left = channel(LEFT_CHANNEL);

export type GroupLeft = { desk: string; reason: 'refused_by_database' | 'contested' | 'unfunded' };

export function tellLeft(message: GroupLeft): void {
  left.publish(message);
}

/** Where every group is told of that was decided once more, with care, because something had changed under it. */
export const RECONSIDERED_CHANNEL = 'gpuaas:reconsidered-groups';
const reconsidered = channel(RECONSIDERED_CHANNEL);

export type GroupReconsidered = { desk: string; size: number };

export function tellReconsidered(message: GroupReconsidered): void {
  reconsidered.publish(message);
}

export interface GroupLimits {
  /** Names the desk in metrics. */
  desk: string;
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
 * Collects what arrives while groups are under way and hands it on as the next one. The more arrives, the larger are the
 * groups and the less does each cost; a single one does not wait for company.
 */
export class GroupCommit<I, O> {
  readonly #commit: (items: I[]) => Promise<O[]>;
  readonly #limits: GroupLimits;
  #waiting: Waiting<I, O>[] = [];
  #underWay = 0;
  /** How many groups there were. */
  groups = 0;

  /** With two `underWay` one is decided while the other is written to disk. */
  constructor(commit: (items: I[]) => Promise<O[]>, limits: GroupLimits) {
    this.#commit = commit;
    this.#limits = limits;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject });
      // What arrives in one turn of the event loop goes together.
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
    const waitedMs = performance.now() - group[0]!.since;
    let failed = false;
    try {
      const outcomes = await this.#commit(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(outcomes[index]!));
    } catch (error) {
      failed = true;
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      ended.publish({ desk: this.#limits.desk, size: group.length, waitedMs, failed } satisfies GroupSeen);
      this.#begin();
    }
  }
}
