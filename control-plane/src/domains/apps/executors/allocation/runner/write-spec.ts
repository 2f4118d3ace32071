import { GuestError } from '../guest-error.ts';
import type { MemberSpec } from '../members.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Shells refuse to set these, or would obey them. */
const RESERVED = new Set([
  'BASHOPTS',
  'BASH_ENV',
  'ENV',
  'EUID',
  'GPUAAS_MEMBER',
  'GPUAAS_RUNNER',
  'IFS',
  'PPID',
  'PS4',
  'SHELLOPTS',
  'UID',
]);
const MAX_BYTES = 256 * 1024;

/** Whether a member may have a variable of this name. */
export function isSettable(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}

/** A shell script that sets the member's limits, environment and arguments. It travels on stdin, never as an argument. */
export function writeSpec({ memberId, command, env, limits }: MemberSpec): Buffer {
  const [program] = command;
  if (!program) throw new GuestError('executor_error', 'The member has no command.');
  const lines = [
    ...limit('n', limits.openFiles),
    ...limit('d', limits.memoryBytes === null ? null : Math.ceil(limits.memoryBytes / 1024)),
    ...Object.entries(env).map(([name, value]) => {
      if (!isSettable(name))
        throw new GuestError('executor_error', `The variable ${name.slice(0, 100)} cannot be set.`);
      return `export ${name}=${quote(value)}`;
    }),
    `export GPUAAS_MEMBER=${quote(memberId)}`,
    `set -- ${command.map(quote).join(' ')}`,
  ];
  const script = Buffer.from(`${lines.join('\n')}\n`);
  if (script.length > MAX_BYTES)
    throw new GuestError('executor_error', 'Command and environment are longer than 256 KiB.');
  return script;
}

function limit(option: string, value: number | null): string[] {
  return value === null ? [] : [`ulimit -${option} ${Math.trunc(value)} || exit 126`];
}

function quote(text: string): string {
  if (text.includes('\0'))
    throw new GuestError('executor_error', 'Command and environment cannot contain a zero byte.');
  return `'${text.replaceAll("'", "'\\''")}'`;
}
