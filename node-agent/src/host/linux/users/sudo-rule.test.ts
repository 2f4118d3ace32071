import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunCommand } from '../commands.ts';
import { allowRoot, forbidRoot, sudoRule } from './sudo-rule.ts';

const USER = 'lease-0123456789ab';
const RULE = /^([a-z][a-z0-9-]*) ALL=\(ALL:ALL\) NOPASSWD: ALL\n$/;

let rules: string;
beforeEach(() => {
  rules = mkdtempSync(join(tmpdir(), 'sudoers-'));
});
afterEach(() => rmSync(rules, { recursive: true, force: true }));

/** Visudo and sudo as far as they are asked: a rule is read where its name, its mode and its words allow it. */
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

it('lets one user become root, twice asked as once, until it is taken away', async () => {
  await allowRoot(tools, USER, rules);
  await allowRoot(tools, USER, rules);
  expect(readdirSync(rules)).toEqual([`gpuaas-${USER}`]);
  expect(readFileSync(sudoRule(USER, rules), 'utf8')).toBe(`${USER} ALL=(ALL:ALL) NOPASSWD: ALL\n`);
  await forbidRoot(USER, rules);
  await forbidRoot(USER, rules);
  expect(existsSync(sudoRule(USER, rules))).toBe(false);
});

it('writes nothing that visudo refuses, and nothing on a host without it', async () => {
  const refusing: RunCommand = async () => ({ code: 1, stdout: '', stderr: 'syntax error' });
  await expect(allowRoot(refusing, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
  await expect(allowRoot(async () => null, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
  expect(readdirSync(rules)).toEqual([]);
});

it('is not done while sudo does not read the rule', async () => {
  const deaf: RunCommand = async (tool, args) =>
    tool === 'sudo' ? { code: 0, stdout: 'not allowed', stderr: '' } : await tools(tool, args);
  await expect(allowRoot(deaf, USER, rules)).rejects.toMatchObject({ code: 'root_refused' });
});
