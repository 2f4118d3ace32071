import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { GuestError } from '../guest-error.ts';
import type { MemberSpec } from '../members.ts';
import { writeSpec } from './write-spec.ts';

const spec = (change: Partial<MemberSpec>): MemberSpec => ({
  memberId: '0199aaaa-0000-7000-8000-00000000000a',
  command: ['true'],
  env: {},
  payload: null,
  ports: [],
  limits: { memoryBytes: null, openFiles: null, logBytes: 1024 },
  ...change,
});

it('hands any text to a shell unchanged', () => {
  const text = `a'b"c\`d$(id)\\ \n\t; rm -rf / # é \u{1f600}`;
  const script = writeSpec(spec({ command: ['printf', '%s', text], env: { WORDS: text } }));
  const run = (tail: string): string =>
    execFileSync('sh', ['-c', `${script.toString('utf8')}\n${tail}`], { encoding: 'utf8' });
  expect(run('"$@"')).toBe(text);
  expect(run('printf %s "$WORDS"')).toBe(text);
  expect(run('printf %s "$GPUAAS_MEMBER"')).toBe('0199aaaa-0000-7000-8000-00000000000a');
});

it.each([
  ['no command', { command: [] }],
  ['a name that is none', { env: { 'A B': '1' } }],
  ['code as a name', { env: { 'X;id': '1' } }],
  ['a name of the shell', { env: { ENV: '/tmp/x' } }],
  ['a name of ours', { env: { GPUAAS_MEMBER: 'another' } }],
  ['a zero byte', { env: { A: 'a\0b' } }],
  ['too much', { env: { A: 'a'.repeat(300_000) } }],
])('refuses %s', (_name, change) => {
  expect(() => writeSpec(spec(change))).toThrow(GuestError);
});
