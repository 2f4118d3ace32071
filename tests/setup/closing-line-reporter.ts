import { writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';
import type { SerializedError } from 'vitest';

/**
 * Ends the run with `N passed, N failed[, N skipped]` alone on the last line, after the lists of failed tests
 * with their errors and of tests not run here with the reason. It is written when the process exits, because the global
 * teardown may still print.
 */
export class ClosingLineReporter implements Reporter {
  #closing: string | undefined;

  onInit(): void {
    process.once('exit', () => {
      if (this.#closing !== undefined) writeSync(1, this.#closing);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string): TestCase[] => tests.filter((test) => test.result().state === state);
    const [prevented, skipped] = partition(inState('skipped'), wasPrevented);
    // A file that could not be loaded has no tests to fail, and an unhandled error belongs to none.
    const empty = modules.filter((module) => module.errors().length > 0 && module.children.size === 0);
    const broken = [
      ...[...inState('failed'), ...prevented].map(
        (test) => `${test.module.relativeModuleId}: ${test.fullName}${errorsOf(test.result().errors)}`,
      ),
      ...empty.map((module) => `${module.relativeModuleId}${errorsOf(module.errors())}`),
      ...unhandledErrors.map(({ message }) => `unhandled: ${message.split('\n')[0]}`),
    ];
    this.#closing =
      listed('failed here', broken) +
      listed('not run here', skipped.map(withReason)) +
      closingLine(inState('passed').length, broken.length, skipped.length);
  }
}

const ERROR_LINES = 12;

/** The beginning of each error, and where it was thrown: a log that is cut keeps its end. */
function errorsOf(errors: readonly SerializedError[] | undefined): string {
  return (errors ?? [])
    .flatMap(({ message, stacks }) => {
      const [at] = stacks ?? [];
      const lines = message.split('\n').filter((line) => line.trim() !== '');
      return [...lines.slice(0, ERROR_LINES), ...(at ? [`at ${at.file}:${at.line}`] : [])];
    })
    .map((line) => `\n      ${line}`)
    .join('');
}

/** A test that never began because the set-up around it broke has failed; the runner calls it skipped. */
function wasPrevented(test: TestCase): boolean {
  let around: TestSuite | TestModule = test.parent;
  while (around.type === 'suite') {
    if (around.errors().length > 0) return true;
    around = around.parent;
  }
  return around.errors().length > 0;
}

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

export function closingLine(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
}

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}\n`;
}

function withReason(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}: ${reasonOf(test)}`;
}

/** `ctx.skip('reason')`, or for a whole suite `(needs chromium)` in its title. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? /\((needs [^)]+)\)/.exec(test.fullName)?.[1] ?? 'no reason given';
}
