import { CommanderError } from 'commander';
import { ProblemError, type Problem } from '@gpuaas/sdk/problem';
import { nextSteps } from './next-steps.ts';
import { stripControlCharacters, colorize } from './colorize.ts';
import { CancelledError, UsageError } from './usage-error.ts';

/** Exit codes: 0 done, 1 refused or failed, 2 wrong usage or cancelled, 4 not signed in. */
export type ExitCode = 0 | 1 | 2 | 4;

/** Prints the error and the next step for people, or JSON for programs; returns the exit code. */
export function reportError(error: unknown, json: boolean): ExitCode {
  if (json && !(error instanceof CommanderError && error.exitCode === 0)) return reportJson(error);
  // Commander has already printed it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ProblemError) return reportProblem(error.problem);
  if (error instanceof CancelledError) {
    if (error.message) printError(error.message);
    return 2;
  }
  if (isUnreachable(error)) {
    printError(
      'cannot reach the platform.',
      'Check --url or GPUAAS_URL, and that it is running: gpuaas doctor',
    );
    return 1;
  }
  printError(error instanceof Error ? error.message : String(error));
  return error instanceof UsageError ? 2 : 1;
}

function reportProblem(problem: Problem): ExitCode {
  const misses = (problem.errors ?? []).map((miss) => `${miss.pointer}: ${miss.detail}`);
  printError(problem.title, ...(problem.detail ? [problem.detail] : []), ...misses);
  const next = problem.status === 401 ? nextSteps.unauthenticated : nextSteps[problem.code as never];
  if (next) console.error(`  ${colorize('cyan', `Next: ${next}`, process.stderr)}`);
  console.error(
    colorize('dim', `  code ${problem.code}, correlation id ${problem.correlation_id}`, process.stderr),
  );
  return problem.status === 401 ? 4 : 1;
}

function printError(title: string, ...details: string[]): void {
  console.error(stripControlCharacters(`${colorize('red', 'gpuaas:', process.stderr)} ${title}`));
  for (const detail of details) console.error(stripControlCharacters(`  ${detail}`));
}

function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}

/** A refusal of the API as it came; everything else with a code and a title in the same shape. */
function reportJson(error: unknown): ExitCode {
  const [code, exit] = kindOf(error);
  const title = error instanceof Error ? error.message : String(error);
  const problem = error instanceof ProblemError ? error.problem : { code, title };
  console.error(JSON.stringify(problem, null, 2));
  return exit;
}

function kindOf(error: unknown): [code: string, exit: ExitCode] {
  if (error instanceof ProblemError) return [error.problem.code, error.problem.status === 401 ? 4 : 1];
  if (error instanceof CommanderError || error instanceof UsageError) return ['wrong_usage', 2];
  if (error instanceof CancelledError) return ['cancelled', 2];
  return isUnreachable(error) ? ['unreachable', 1] : ['failed', 1];
}
