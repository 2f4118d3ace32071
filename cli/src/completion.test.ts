import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { complete } from './completion.ts';
import { createProgram } from './program.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const after = (line: string): string[] => complete(createProgram(), line.split(' '));

it('offers nouns, verbs, flags and choices where they are valid', () => {
  expect(after('adm')).toEqual(['admin']);
  expect(after('admin nodes dr')).toEqual(['drain']);
  expect(after('--json admin nodes dr')).toEqual(['drain']);
  expect(after('admin nodes drain some-node --re')).toEqual(['--reason']);
  expect(after('admin nodes drain some-node --reason ')).toEqual([]);
  expect(after('completion ')).toEqual(['bash', 'fish', 'zsh']);
  expect(after('webhooks deliveries list some-webhook --state d')).toEqual(['delivered']);
  expect(after('nonsense ')).not.toContain('drain');
});

it('works in bash', () => {
  const script = `gpuaas() { "${process.execPath}" "${MAIN}" "$@"; }
eval "$(gpuaas completion bash)"
COMP_WORDS=(gpuaas webhooks ro) COMP_CWORD=2
_gpuaas
printf '%s\\n' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe('rotate-secret\n');
});
