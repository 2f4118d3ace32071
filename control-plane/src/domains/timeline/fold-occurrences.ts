import { stepOf, type Entry, type Step } from './step.ts';

/** Older ones are only in the list of events. */
const SHOWN = 20;

/** Steps of a stage that repeats: each is open from an event that says `running` to the next event of the stage. */
export class Occurrences<Stage extends string> {
  readonly #title: string;
  readonly #steps: Step<Stage>[] = [];

  constructor(title: string) {
    this.#title = title;
  }

  note(entry: Entry<Stage>): void {
    const open = this.#steps.at(-1)?.state === 'active' ? this.#steps.pop() : undefined;
    this.#steps.push(stepOf(this.#title, entry, open?.started_at));
    if (this.#steps.length > SHOWN) this.#steps.shift();
  }

  steps(supersededAt: string | null): Step<Stage>[] {
    return this.#steps.map((step) =>
      step.state === 'active' && supersededAt !== null
        ? { ...step, state: 'done', ended_at: supersededAt }
        : step,
    );
  }
}
