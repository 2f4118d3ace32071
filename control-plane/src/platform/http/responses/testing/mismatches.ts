import type { OnContractMismatch } from '../validate-responses.ts';

/** Collects mismatches with the contract in a test's servers; the test asserts at its end that there are none. */
export class Mismatches {
  readonly #found: string[] = [];

  readonly onMismatch: OnContractMismatch = (mismatch) => void this.#found.push(mismatch);

  /** Once per mismatch, so that a test may expect one. */
  take(): string[] {
    return this.#found.splice(0);
  }

  assertNone(): void {
    const found = this.take();
    if (found.length > 0) throw new Error(`answers broke the contract:\n${found.join('\n')}`);
  }
}
