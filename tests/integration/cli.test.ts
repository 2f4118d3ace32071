import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import type { components } from '@gpuaas/sdk/contract';
import { useCli, type Result } from '../harness/cli.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';

const cli = useCli();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
}, 120_000);
afterAll(() => platform?.stop());

function gpuaas(args: string[], key: string | null = platform.keys.member): Promise<Result> {
  return cli.run(args, { GPUAAS_URL: platform.baseUrl, ...(key ? { GPUAAS_API_KEY: key } : {}) });
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

  it('runs the people and keys of an organization', async () => {
    const admin = (...args: string[]) => gpuaas(args, platform.keys.admin);
    expect((await admin('members', 'list')).stdout).toMatch(/member@acme\.test\s+active\s+Regular User/);
    const email = 'newcomer@acme.test';
    const invited = await admin('invitations', 'create', email, '--group', 'auditor', '--json');
    const { invitation } = JSON.parse(invited.stdout) as components['schemas']['InvitationWithToken'];
    expect((await admin('invitations', 'list')).stdout).toMatch(/newcomer@acme\.test\s+auditor\s+pending/);
    expect((await admin('invitations', 'revoke', invitation.id)).code).toBe(0);
    expect((await admin('invitations', 'list')).stdout).toMatch(/newcomer@acme\.test\s+auditor\s+revoked/);

    const made = await admin('api-keys', 'create', 'ci', '--scope', 'member.read', 'project.read', '--json');
    const { api_key, secret } = JSON.parse(made.stdout) as components['schemas']['ApiKeyWithSecret'];
    expect((await gpuaas(['members', 'list'], secret)).code).toBe(0);
    expect((await admin('api-keys', 'revoke', api_key.id)).code).toBe(0);
    expect((await gpuaas(['members', 'list'], secret)).code).toBe(4);
    expect((await admin('api-keys', 'list')).stdout).toMatch(/ci\s+gpk_\S+\s+revoked/);

    const file = join(platform.dataDir, 'id.pub');
    await writeFile(file, `${createKeyPair().public}\n`);
    expect((await gpuaas(['ssh-keys', 'create', file, '--name', 'laptop'])).stdout).toContain('SHA256:');
    const listed = await gpuaas(['ssh-keys', 'list', '--json']);
    const { items } = JSON.parse(listed.stdout) as { items: components['schemas']['SshKey'][] };
    expect(items).toMatchObject([{ name: 'laptop', type: 'ssh-ed25519' }]);
    expect((await gpuaas(['ssh-keys', 'delete', items[0]!.id])).code).toBe(0);
    expect((await gpuaas(['ssh-keys', 'list', '--json'])).stdout).toContain('"items": []');
    expect((await admin('invitations', 'create', email)).code).toBe(2);
  });

  it('has a command for every operation of the contract', async () => {
    const admin = (...args: string[]) => gpuaas(args, platform.keys.admin);
    const made = await admin('teams', 'create', '--name', 'research', '--json');
    const { id } = JSON.parse(made.stdout) as components['schemas']['Team'];
    expect((await admin('teams', 'update', id, '--name', 'science')).stdout).toMatch(/name\s+science/);
    expect((await admin('teams', 'list', '--fields', 'name', '--all')).stdout).toBe('NAME\nscience\n');
    expect((await admin('teams', 'delete', id)).stdout).toBe('Done.\n');
    const operator = platform.keys.operator;
    const nodes = await gpuaas(['admin', 'nodes', 'list', '--fields', 'hostname', '--json'], operator);
    expect(JSON.parse(nodes.stdout)).toMatchObject({ items: [{ hostname: 'sim-h200-01' }] });
    expect((await gpuaas(['admin', 'nodes', 'list'])).code).toBe(1);
    expect((await admin('system', 'readiness')).stdout).toMatch(/ready\s+yes/);
    expect((await admin('projects', 'list', '--limit', 'many')).code).toBe(2);
    expect((await admin('projects', 'create', '--body', '{')).code).toBe(2);
    expect((await admin('projects', 'create', '--body', '@/no/such/file')).code).toBe(1);
  });

  it('sends what is asked as it is asked', async () => {
    const me = await gpuaas(['api', 'get', '/api/v1/me']);
    expect(JSON.parse(me.stdout)).toMatchObject({ user: { email: 'member@acme.test' } });
    expect((await gpuaas(['api', 'get', '//elsewhere.test/'])).code).toBe(2);
    expect((await gpuaas(['api', 'post', '/api/v1/allocations', '--body', '{}'])).stderr).toContain(
      '/sku: is required',
    );
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
