import { execFile } from 'node:child_process';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a fixed tool with fixed arguments, never through a shell. Null when the tool is not there. */
export type RunCommand = (tool: string, args: readonly string[]) => Promise<CommandResult | null>;

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT = 4 * 1024 * 1024;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export const runCommand: RunCommand = (tool, args) =>
  new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT, env: { PATH, LC_ALL: 'C' } };
    execFile(tool, [...args], options, (error, stdout, stderr) => {
      if (!error) return resolve({ code: 0, stdout, stderr });
      if (error.code === 'ENOENT') return resolve(null);
      if (error.killed) return resolve({ code: -1, stdout, stderr: `${tool} did not end in time` });
      if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr });
      reject(error);
    });
  });
