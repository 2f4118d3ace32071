import type { TimelineStage } from '@gpuaas/contracts/generated/stages.ts';
import { stepOf, type Entry, type Step } from './step.ts';
import { get, present } from '../../platform/present.ts';

/** Facts about a section that are not in its own events. */
export interface Ending {
  /** When a later section began, if one did. */
  supersededAt: string | null;
  /** The subject's row shows that the section ended; its events may be past retention. */
  isComplete: boolean;
  /** An operator ended it: steps that were not seen to finish count as skipped. */
  isAbandoned: boolean;
}

const NOT_PROVEN = 'Not proven';
const NOT_JUDGED = 'Waiting for proof';

type Path<Stage> = readonly TimelineStage<Stage, unknown>[];

/** Steps of one section, advanced by each of its events. */
export class SectionFold<Stage extends string> {
  readonly #path: Path<Stage>;
  readonly #canRetry: boolean;
  /** By the step's place in the path. */
  readonly #seen = new Map<number, Step<Stage>>();
  #latest = -1;
  #failed = false;

  /** `canRetry`: it continues after a failure, as a release does and a launch does not. */
  constructor(path: Path<Stage>, canRetry: boolean) {
    this.#path = path;
    this.#canRetry = canRetry;
  }

  get hasBegun(): boolean {
    return this.#seen.size > 0;
  }

  get startedAt(): string | null {
    return this.#seen.get(Math.min(...this.#seen.keys()))?.started_at ?? null;
  }

  /** A section that is over ignores events: a node may report the same stage for another task. */
  takes({ stage }: Entry<Stage>): boolean {
    return this.#placeOf(stage) !== -1 && !this.#isOver() && (this.#canRetry || !this.#failed);
  }

  note(entry: Entry<Stage>): void {
    const at = this.#placeOf(entry.stage);
    const before = this.#seen.get(at)?.state;
    const isLateEnd = entry.status === 'done' && before !== 'done';
    if (before === 'failed' || (at < this.#latest && !isLateEnd)) this.#restartFrom(at);
    this.#latest = Math.max(this.#latest, at);
    this.#seen.set(
      at,
      stepOf(present(this.#path[at], 'step of the path').title, entry, this.#seen.get(at)?.started_at),
    );
  }

  /** The last started step failed, even if it was reported as done: then its result was refused. */
  fail({ message, occurred_at }: Entry<Stage>): void {
    const at = this.#latest === -1 ? this.#path.findIndex(({ optional }) => !optional) : this.#latest;
    const { stage, title } = present(this.#path[at], 'step of the path');
    const failure = { stage, status: 'failed', percent: null, message, occurred_at } as const;
    this.#seen.set(at, stepOf(title, failure, this.#seen.get(at)?.started_at));
    this.#latest = at;
    this.#failed = true;
  }

  /** An event after the end of the section, such as an extended lease, becomes the detail of its last step. */
  amend({ stage, message }: Entry<Stage>): void {
    const last = this.#seen.get(this.#path.length - 1);
    if (last?.state === 'done' && last.stage === stage) last.detail = message;
  }

  steps(ending: Ending): Step<Stage>[] {
    return this.#path.flatMap((words, at) => {
      const seen = this.#seen.get(at);
      if (seen) return [this.#shown(at, seen, ending)];
      if (words.optional) return [];
      const state = this.#unseen(at, ending);
      const { stage, title } = words;
      return [{ stage, title, state, percent: null, started_at: null, ended_at: null, detail: '' }];
    });
  }

  #shown(at: number, step: Step<Stage>, { supersededAt, isComplete, isAbandoned }: Ending): Step<Stage> {
    if (present(this.#path[at], 'step of the path').proof && !this.#isProven(isComplete, isAbandoned))
      return this.#unproven(step, isAbandoned);
    const next = this.#path.findIndex((_, later) => later > at && this.#seen.has(later));
    const isPassed = next !== -1 || isComplete;
    if (step.state !== 'active' || (!isPassed && supersededAt === null)) return step;
    const endedAt = next === -1 ? supersededAt : get(this.#seen, next, 'step').started_at;
    const state = isPassed && !isAbandoned ? 'done' : 'skipped';
    return { ...step, state, percent: null, ended_at: endedAt };
  }

  /** The evidence was judged when the section ended; an operator who ends it proves nothing. */
  #isProven(isComplete: boolean, isAbandoned: boolean): boolean {
    return (isComplete || this.#isOver()) && !isAbandoned;
  }

  /** What a node reported about a step is shown as work, or as failed, until the platform has accepted its evidence. */
  #unproven(step: Step<Stage>, isAbandoned: boolean): Step<Stage> {
    if (isAbandoned) return { ...step, state: 'skipped', percent: null };
    if (step.state === 'failed') return step;
    if (this.#failed) return { ...step, state: 'failed', percent: null, detail: NOT_PROVEN };
    if (step.state !== 'done') return step;
    return { ...step, state: 'active', percent: null, ended_at: null, detail: NOT_JUDGED };
  }

  /** Reports can be lost, so a step counts as done when its task was seen to continue after it. */
  #unseen(at: number, { supersededAt, isComplete, isAbandoned }: Ending): Step<Stage>['state'] {
    if (at > this.#latest && isComplete && !isAbandoned) return 'done';
    if (at < this.#latest) {
      if (!this.#sawTaskOf(at) || isAbandoned) return 'skipped';
      if (!present(this.#path[at], 'step of the path').proof || this.#isProven(isComplete, isAbandoned))
        return 'done';
      return this.#failed ? 'failed' : 'active';
    }
    const willNotCome = supersededAt !== null || (this.#failed && !this.#canRetry);
    return willNotCome ? 'skipped' : 'waiting';
  }

  #sawTaskOf(at: number): boolean {
    const { task } = present(this.#path[at], 'step of the path');
    return (
      task !== undefined &&
      [...this.#seen.keys()].some((one) => present(this.#path[one], 'step of the path').task === task)
    );
  }

  /** The work starts again here, so the steps after it are waiting again. */
  #restartFrom(at: number): void {
    for (let later = at; later < this.#path.length; later += 1) this.#seen.delete(later);
    this.#latest = at;
    this.#failed = false;
  }

  #isOver(): boolean {
    return this.#seen.get(this.#path.length - 1)?.state === 'done';
  }

  #placeOf(stage: Stage): number {
    return this.#path.findIndex((step) => step.stage === stage);
  }
}
