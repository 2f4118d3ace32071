import { execFileSync } from 'node:child_process';

/** Runs a tool to its end, with only the given environment. */
export function runTool(
  tool: string,
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): string {
  return execFileSync(tool, [...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 2 ** 20,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      ...options.env,
    },
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
}
