#!/usr/bin/env node
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportError(error);
}
