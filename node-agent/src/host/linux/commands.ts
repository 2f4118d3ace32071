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
  /** What the tool reads from its standard input. */
  input?: string;
  /** Gets what the tool prints while it prints it. */
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
/** What setpriv answers for a tool that it cannot find. */
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

/** Runs a tool that has to succeed and answers what it printed; what it complained of is the evidence when it fails. */
export async function mustRun(
  run: RunCommand,
  code: string,
  tool: string,
  args: readonly string[],
  options?: CommandOptions,
): Promise<string> {
  const result = await run(tool, args, options);
  if (result === null) throw new TaskError(code, `${tool} is not installed on this host`);
  if (result.code !== 0) throw new TaskError(code, `${tool} failed: ${complaintOf(result)}`);
  return result.stdout;
}

export function complaintOf({ code, stdout, stderr }: CommandResult): string {
  const words = (stderr.trim() || stdout.trim()).replaceAll(/\s+/g, ' ');
  return words.slice(0, 400) || `exit code ${code}`;
}
