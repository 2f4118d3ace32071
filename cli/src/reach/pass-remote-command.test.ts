import { expect, test } from 'vitest';
import { passRemoteCommand } from './pass-remote-command.ts';

const passed = (line: string): string => passRemoteCommand(line.split(' ')).join(' ');

test('everything after the machine belongs to the remote command', () => {
  expect(passed('ssh m nvidia-smi -L')).toBe('ssh m -- nvidia-smi -L');
  expect(passed('--context a ssh -i key m ls -la --json')).toBe('--context a ssh -i key m -- ls -la --json');
  expect(passed('ssh m -i key ls -i')).toBe('ssh m -i key -- ls -i');
  expect(passed('ssh m -la')).toBe('ssh m -- -la');
});

test('other commands, a shell, and a command after -- stay as they are', () => {
  for (const line of ['ssh m', 'ssh m -- ls -la', 'ssh --stdio m', 'list --json', 'ssh --help', 'ssh'])
    expect(passed(line)).toBe(line);
});
