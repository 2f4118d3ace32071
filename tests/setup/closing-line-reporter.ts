import { writeSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
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
        (test) => `${test.module.relativeModuleId}: ${test.fullName}${errorsOf(reasonsOf(test))}`,
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
function errorsOf(errors: readonly SerializedError[]): string {
  return errors
    .flatMap(({ message, diff, stacks }) => {
      const [at] = stacks ?? [];
      const text = stripVTControlCharacters(`${message}\n${typeof diff === 'string' ? diff : ''}`);
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      return [...lines.slice(0, ERROR_LINES), ...(at ? [`at ${at.file}:${at.line}`] : [])];
    })
    .map((line) => `\n      ${line}`)
    .join('');
}

/** The errors of a test, or of the broken set-up around it. */
function reasonsOf(test: TestCase): readonly SerializedError[] {
  const own = test.result().errors ?? [];
  return own.length > 0 ? own : around(test).flatMap((one) => one.errors());
}

/** A test that never began because the set-up around it broke has failed; the runner calls it skipped. */
function wasPrevented(test: TestCase): boolean {
  return around(test).some((one) => one.errors().length > 0);
}

/** The suites around a test and its file, from the inside out. */
function around(test: TestCase): (TestSuite | TestModule)[] {
  const found: (TestSuite | TestModule)[] = [];
  let next: TestSuite | TestModule = test.parent;
  while (next.type === 'suite') {
    found.push(next);
    next = next.parent;
  }
  return [...found, next];
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
