import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const GUIDE = new URL('../../../docs/tenancy.md', import.meta.url);
const CLI = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 0 });
});
afterAll(() => platform?.stop());

it('every example of the guide for tenant admins works as it stands', async (ctx) => {
  for (const tool of ['curl', 'jq']) {
    if (spawnSync(tool, ['--version']).status !== 0) ctx.skip(`needs ${tool}`);
  }
  const { baseUrl, keys, dataDir } = platform;
  await writeFile(join(dataDir, 'id.pub'), createKeyPair().public);
  const examples = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```sh\n(.*?)^```/gms)].map(
    (match) => match[1]!,
  );
  expect(examples.length).toBeGreaterThan(7);
  const script = examples
    .join('\n')
    .replace('http://127.0.0.1:8080', baseUrl)
    .replace('gpk_…', keys.admin)
    .replace('~/.ssh/id_ed25519.pub', join(dataDir, 'id.pub'))
    .replace('audit.jsonl', join(dataDir, 'audit.jsonl'));
  const { code, stderr } = await bash(
    `set -e -o pipefail\ngpuaas() { '${process.execPath}' '${CLI}' "$@"; }\n${script}`,
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const rows = (await readFile(join(dataDir, 'audit.jsonl'), 'utf8')).trim().split('\n');
  const actions = rows.map((row) => (JSON.parse(row) as { action: string }).action);
  expect(actions).toEqual(expect.arrayContaining(['project.create', 'invitation.create', 'api_key.create']));
}, 240_000);

function bash(script: string): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { timeout: 200_000 }, (error, stdout, stderr) => {
      const code = error ? Number(error.code ?? 1) : 0;
      resolve({ code, stderr: code === 0 ? stderr : `${stdout.slice(-2000)}\n${stderr}` });
    });
  });
}
