#!/usr/bin/env node
import { CommanderError } from 'commander';
import { ProblemError } from '@gpuaas/sdk/problem';
import { createProgram } from './program.ts';

/** Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 4 not signed in. */
try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ProblemError) {
    const { problem } = error;
    console.error(`gpuaas: ${problem.title}${problem.detail ? `\n  ${problem.detail}` : ''}`);
    for (const miss of problem.errors ?? []) console.error(`  ${miss.pointer}: ${miss.detail}`);
    console.error(`  code ${problem.code}, correlation id ${problem.correlation_id}`);
    if (problem.status === 401) console.error('  Run gpuaas login, or set GPUAAS_API_KEY.');
    return problem.status === 401 ? 4 : 1;
  }
  if (isUnreachable(error)) {
    console.error(
      'gpuaas: the platform cannot be reached.\n  Check --url or GPUAAS_URL, and that it is running.',
    );
    return 1;
  }
  console.error(`gpuaas: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
}

function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}
