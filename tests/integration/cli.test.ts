import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '@gpuaas/sdk/contract';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';

const MAIN = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
}, 120_000);
afterAll(() => platform?.stop());

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

function gpuaas(args: string[], key: string | null = platform.keys.member): Promise<Result> {
  const env = {
    PATH: process.env['PATH'],
    GPUAAS_URL: platform.baseUrl,
    ...(key ? { GPUAAS_API_KEY: key } : {}),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe('gpuaas', () => {
  it('launches, lists and releases', async () => {
    const launched = await gpuaas(['launch', '--gpus', '2', '--name', 'from-the-cli', '--wait', '--json']);
    expect(launched).toMatchObject({ code: 0, stderr: '' });
    const allocation = JSON.parse(launched.stdout) as components['schemas']['Allocation'];
    expect(allocation).toMatchObject({ state: 'active', gpu_count: 2, name: 'from-the-cli' });
    expect((await gpuaas(['list'])).stdout).toMatch(/from-the-cli\s+2\s+active/);
    const released = await gpuaas(['release', allocation.id, '--wait']);
    expect(released.code).toBe(0);
    expect(released.stderr).toContain('wipe');
    expect((await gpuaas(['show', allocation.id])).stdout).toContain('released');
  });

  it('tells price and stock', async () => {
    expect((await gpuaas(['skus'])).stdout).toMatch(/h200-sxm-slice\s+uae-north-1\s+2\.99 USD\s+8\s+8/);
    expect((await gpuaas(['me'])).stdout).toContain('member@acme.test');
  });

  it('ends with 1 for a refusal, 2 for wrong usage and 4 without a key', async () => {
    const refused = await gpuaas(['show', crypto.randomUUID()]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/code not_found, correlation id [0-9a-f-]{36}/);
    expect((await gpuaas(['launch', '--gpus', 'many'])).code).toBe(2);
    expect((await gpuaas(['nonsense'])).code).toBe(2);
    expect((await gpuaas(['me'], null)).code).toBe(4);
  });
});
