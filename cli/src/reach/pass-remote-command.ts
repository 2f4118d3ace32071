/** Options of `gpuaas ssh` and of every command that take a value. */
const WITH_VALUE = new Set(['-i', '--identity', '--context', '--url', '--api-key', '--fields']);
const WITHOUT_VALUE = new Set(['--stdio', '--json', '-h', '--help']);

/**
 * Sets `--` before the remote command of `gpuaas ssh <allocation> <command>`, so that its options reach the machine, as
 * with OpenSSH.
 */
export function passRemoteCommand(args: readonly string[]): string[] {
  const at = skipOptions(args, 0);
  if (args[at] !== 'ssh') return [...args];
  const machine = skipOptions(args, at + 1);
  const command = skipOptions(args, machine + 1);
  if (machine >= args.length || command >= args.length || args.slice(0, command + 1).includes('--'))
    return [...args];
  return [...args.slice(0, command), '--', ...args.slice(command)];
}

function skipOptions(args: readonly string[], from: number): number {
  let at = from;
  for (;;) {
    const word = args[at] ?? '';
    if (WITH_VALUE.has(word)) at += 2;
    else if (WITHOUT_VALUE.has(word) || /^--(identity|context|url|api-key|fields)=/.test(word)) at += 1;
    else return at;
  }
}
