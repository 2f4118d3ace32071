/** Collects what arrives while a group is under way and hands it on as the next one. */
export class GroupCommit<I, O> {
  readonly #commit: (items: I[]) => Promise<O[]>;
  readonly #max: number;
  #waiting: { item: I; resolve: (outcome: O) => void; reject: (error: unknown) => void }[] = [];
  #busy = false;
  groups = 0;

  constructor(commit: (items: I[]) => Promise<O[]>, max: number) {
    this.#commit = commit;
    this.#max = max;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#busy) {
        this.#busy = true;
        setImmediate(() => void this.#run());
      }
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#max);
      this.groups += 1;
      try {
        const outcomes = await this.#commit(group.map(({ item }) => item));
        group.forEach(({ resolve }, index) => resolve(outcomes[index]!));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#busy = false;
  }
}
