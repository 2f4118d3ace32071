import type { OnMismatch } from './check-answers.ts';

/** Collects the answers of a test's servers that broke the contract; the test asserts at its end that none did. */
export class Mismatches {
  readonly #told: string[] = [];

  readonly onMismatch: OnMismatch = (told) => void this.#told.push(told);

  /** Once per mismatch, so that a test may expect one. */
  take(): string[] {
    return this.#told.splice(0);
  }

  assertNone(): void {
    const told = this.take();
    if (told.length > 0) throw new Error(`answers broke the contract:\n${told.join('\n')}`);
  }
}
