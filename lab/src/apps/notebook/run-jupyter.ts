import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { jupyterArguments } from './find-jupyter.ts';
import type { NotebookSettings } from './notebook-settings.ts';

/** Runs Jupyter in place of our server: passes signals on and ends with its exit code. */
export function runJupyter(program: string, settings: NotebookSettings, port: string): void {
  process.stdout.write(`notebook starts ${program} of this machine\n`);
  const child = spawn(program, jupyterArguments(program, settings, port), {
    cwd: settings.folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${program} cannot be started: ${error.message}\n`);
    process.exit(127);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
}
