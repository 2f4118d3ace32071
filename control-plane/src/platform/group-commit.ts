interface Waiting<I, O> {
  item: I;
  resolve: (outcome: O) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects what arrives while groups are under way and hands it on as the next one. The more arrives, the larger are the
 * groups and the less does each cost; a single one does not wait for company.
 */
export class GroupCommit<I, O> {
  readonly #commit: (items: I[]) => Promise<O[]>;
  readonly #limits: { size: number; underWay: number };
  #waiting: Waiting<I, O>[] = [];
  #underWay = 0;
  /** How many groups there were. */
  groups = 0;

  /** With two `underWay` one is decided while the other is written to disk. */
  constructor(commit: (items: I[]) => Promise<O[]>, limits: { size: number; underWay: number }) {
    this.#commit = commit;
    this.#limits = limits;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
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
    try {
      const outcomes = await this.#commit(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(outcomes[index]!));
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#begin();
    }
  }
}
