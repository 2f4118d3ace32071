import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, type RunCommand } from '../commands.ts';
import { grantSudo, revokeSudo, sudoRule } from './sudo-rule.ts';

const USER = 'lease-0123456789ab';
const RULE = /^([a-z][a-z0-9-]*) ALL=\(ALL:ALL\) NOPASSWD: ALL\n$/;

let rules: string;
beforeEach(() => {
  rules = mkdtempSync(join(tmpdir(), 'sudoers-'));
});
afterEach(() => rmSync(rules, { recursive: true, force: true }));

/** visudo and sudo as far as the tests need them: a rule applies if its name, mode and content allow it. */
const tools: RunCommand = async (tool, args) => {
  if (tool === 'visudo') {
    expect(args.slice(0, 3)).toEqual(['--check', '--strict', '--file']);
    const passed = RULE.test(readFileSync(args[3]!, 'utf8'));
    return { code: passed ? 0 : 1, stdout: '', stderr: passed ? '' : 'syntax error' };
  }
  expect([tool, ...args]).toEqual(['sudo', '--non-interactive', '--list', '--other-user', USER]);
  const files = readdirSync(rules).filter((name) => !/[.~]/.test(name));
  const read = files
    .map((name) => join(rules, name))
    .filter((path) => (statSync(path).mode & 0o777) === 0o440);
  const allowed = read.some((path) => RULE.exec(readFileSync(path, 'utf8'))?.[1] === USER);
  return allowed
    ? {
        code: 0,
        stdout: `User ${USER} may run the following commands:\n    (ALL : ALL) NOPASSWD: ALL\n`,
        stderr: '',
      }
    : { code: 0, stdout: `User ${USER} is not allowed to run sudo.\n`, stderr: '' };
};

it('lets one user become root, idempotently, until it is revoked', async () => {
  await grantSudo(tools, USER, rules);
  await grantSudo(tools, USER, rules);
  expect(readdirSync(rules)).toEqual([`gpuaas-${USER}`]);
  expect(readFileSync(sudoRule(USER, rules), 'utf8')).toBe(`${USER} ALL=(ALL:ALL) NOPASSWD: ALL\n`);
  await revokeSudo(USER, rules);
  await revokeSudo(USER, rules);
  expect(existsSync(sudoRule(USER, rules))).toBe(false);
});

it('writes nothing that visudo refuses, and nothing on a host without it', async () => {
  const refusing: RunCommand = async () => ({ code: 1, stdout: '', stderr: 'syntax error' });
  await expect(grantSudo(refusing, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
  await expect(grantSudo(async () => null, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
  expect(readdirSync(rules)).toEqual([]);
});

it('fails while sudo does not read the rule', async () => {
  const deaf: RunCommand = async (tool, args) =>
    tool === 'sudo' ? { code: 0, stdout: 'not allowed', stderr: '' } : await tools(tool, args);
  await expect(grantSudo(deaf, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
});

/** Visudo and sudo themselves, for which the folder is the one they read rules from. */
const real: RunCommand = (tool, args) =>
  runCommand('unshare', [
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" /etc/sudoers.d && exec "$@"',
    rules,
    tool,
    ...args,
  ]);
const obstacle =
  process.getuid?.() !== 0 ? 'needs root' : existsSync('/usr/sbin/visudo') ? null : 'needs sudo';

describe.skipIf(obstacle !== null)(`sudo itself (${obstacle ?? 'needs nothing more'})`, () => {
  // A login that every Debian has and that has no power.
  const LOGIN = 'nobody';
  const list = async () =>
    (await real('sudo', ['--non-interactive', '--list', '--other-user', LOGIN]))?.stdout;

  it('reads the rule, and forgets it with the file', async () => {
    expect(await list()).toContain('is not allowed to run sudo');
    await grantSudo(real, LOGIN, rules);
    expect(await list()).toMatch(/\(ALL : ALL\) NOPASSWD: ALL/);
    await revokeSudo(LOGIN, rules);
    expect(await list()).toContain('is not allowed to run sudo');
  });

  it('would read no rule of a name with a dot or that others may write, which is why ours is as it is', async () => {
    const rule = `${LOGIN} ALL=(ALL:ALL) NOPASSWD: ALL\n`;
    writeFileSync(join(rules, 'a.rule'), rule, { mode: 0o440 });
    writeFileSync(join(rules, 'open'), rule);
    chmodSync(join(rules, 'open'), 0o666);
    expect(await list()).toContain('is not allowed to run sudo');
  });

  it('has visudo refuse an invalid rule: no login name can inject one', async () => {
    await expect(grantSudo(real, 'nobody ALL=(ALL) x', rules)).rejects.toMatchObject({
      code: 'root_refused',
    });
    expect(readdirSync(rules)).toEqual([]);
  });
});
