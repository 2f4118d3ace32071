#!/usr/bin/env node
import { createProgram } from './program.ts';
import { passRemoteCommand } from './reach/pass-remote-command.ts';
import { reportError } from './report-error.ts';

const args = passRemoteCommand(process.argv.slice(2));
const json = (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).includes('--json');
try {
  await createProgram({ json }).parseAsync(args, { from: 'user' });
} catch (error) {
  process.exitCode = reportError(error, json);
}
