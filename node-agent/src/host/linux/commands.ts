import { execFile } from 'node:child_process';
import { TaskError } from '../../tasks/task-error.ts';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Standard input of the tool. */
  input?: string;
  /** Receives the tool's output while it runs. */
  onOutput?: (text: string) => void;
  /** For tools that write to a disk: they must not outlive the agent that answers for them. */
  diesWithAgent?: boolean;
}

/** Runs a fixed tool with fixed arguments, never through a shell. Null when the tool is not there. */
export type RunCommand = (
  tool: string,
  args: readonly string[],
  options?: CommandOptions,
) => Promise<CommandResult | null>;

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT = 4 * 1024 * 1024;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Exit code of setpriv for a tool that it cannot find. */
const NOT_FOUND = 127;

export const runCommand: RunCommand = (tool, args, options = {}) =>
  new Promise((resolve, reject) => {
    const { timeoutMs = TIMEOUT_MS, signal, diesWithAgent = false } = options;
    const [program, words] = diesWithAgent
      ? ['setpriv', ['--pdeathsig', 'KILL', '--', tool, ...args]]
      : [tool, [...args]];
    const settings = {
      timeout: timeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: MAX_OUTPUT,
      env: { PATH, LC_ALL: 'C' },
      ...(signal ? { signal } : {}),
    };
    const child = execFile(program, words, settings, (error, stdout, stderr) => {
      if (!error) return resolve({ code: 0, stdout, stderr });
      if (signal?.aborted) return reject(error);
      if (error.code === 'ENOENT' || (diesWithAgent && error.code === NOT_FOUND)) return resolve(null);
      if (error.killed) return resolve({ code: -1, stdout, stderr: `${tool} did not end in time` });
      if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr });
      if (error.signal) return resolve({ code: -1, stdout, stderr: `${tool} was ended by ${error.signal}` });
      reject(error);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
    if (options.onOutput) child.stdout?.on('data', options.onOutput);
  });

/** Runs a tool that must succeed and returns its output; on failure its error output is the evidence. */
export async function runOrThrow(
  run: RunCommand,
  code: string,
  tool: string,
  args: readonly string[],
  options?: CommandOptions,
): Promise<string> {
  const result = await run(tool, args, options);
  if (result === null) throw new TaskError(code, `${tool} is not installed on this host`);
  if (result.code !== 0) throw new TaskError(code, `${tool} failed: ${commandError(result)}`);
  return result.stdout;
}

export function commandError({ code, stdout, stderr }: CommandResult): string {
  const words = (stderr.trim() || stdout.trim()).replaceAll(/\s+/g, ' ');
  return words.slice(0, 400) || `exit code ${code}`;
}
