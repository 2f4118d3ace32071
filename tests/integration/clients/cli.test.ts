import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { ResponseValidator } from '@gpuaas/control-plane/platform/http/responses/response-validator';
import type { ContractDocument } from '@gpuaas/control-plane/platform/http/operation';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import type { components } from '@gpuaas/sdk/contract';
import { publish, shellManifest } from '../../harness/apps/apps.ts';
import { useCli, type Result } from '../../harness/cli/cli.ts';
import { hasTmux, Terminal } from '../../harness/cli/tmux.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const cli = useCli();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
});
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
    expect((await gpuaas(['list'])).stdout).toMatch(/from-the-cli\s+active\s+2\s+5\.98 USD/);
    expect((await gpuaas(['show', 'from-the-cli'])).stdout).toContain(allocation.id);
    const released = await gpuaas(['release', 'from-the-cli', '--yes', '--wait']);
    expect(released.code).toBe(0);
    expect(released.stderr).toContain('wipe');
    expect((await gpuaas(['show', allocation.id])).stdout).toContain('released');
    expect(await gpuaas(['release', 'from-the-cli', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No live allocation named from-the-cli') as string,
    });
  });

  it('runs an app, follows its log, waits for it, stops it and says what it cost', async () => {
    const on = 'apps-from-the-cli';
    expect((await gpuaas(['launch', '--gpus', '1', '--name', on, '--wait'])).code).toBe(0);
    const hello = shellManifest('echo "hello $PARAM_WHO"; sleep 3; echo bye', {
      parameters: [{ name: 'who', type: 'string', default: 'nobody' }],
    });
    await publish(platform.operator, 'cli-hello', hello);
    await publish(platform.operator, 'cli-fails', shellManifest('exit 4'));
    const web = {
      command: ['node', '-e', "require('http').createServer((q, s) => s.end('hi')).listen(8321)"],
      ports: [{ name: 'web', port: 8321, protocol: 'http' as const }],
      readiness: { port: 'web', path: '/', timeout_seconds: 100 },
    };
    await publish(platform.operator, 'cli-web', shellManifest('', { kind: 'service', runtime: web }));

    const started = await gpuaas(['apps', 'run', 'cli-hello', '--on', on, '--set', 'who=you', '--json']);
    expect(started).toMatchObject({ code: 0, stderr: '' });
    const { id } = JSON.parse(started.stdout) as components['schemas']['AppInstance'];
    expect((await gpuaas(['apps', 'logs', '-f', id])).stdout).toBe('hello you\nbye\n');
    expect(await gpuaas(['apps', 'wait', id])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/succeeded\s+exit 0/) as string,
    });
    const failing = await gpuaas(['apps', 'run', 'cli-fails', '--on', on, '--json']);
    const failed = JSON.parse(failing.stdout) as components['schemas']['AppInstance'];
    expect(await gpuaas(['apps', 'wait', failed.id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exit_nonzero') as string,
    });

    const service = await gpuaas(['apps', 'run', 'cli-web', '--on', on, '--wait', '--json']);
    const running = JSON.parse(service.stdout) as components['schemas']['AppInstance'];
    expect(running.status).toBe('running');
    expect((await gpuaas(['apps', 'list'])).stdout).toMatch(new RegExp(`${running.id}.*cli-web\\s+running`));
    expect((await gpuaas(['apps', 'list'])).stdout).not.toContain(id);
    expect((await gpuaas(['apps', 'list', '--all'])).stdout).toMatch(new RegExp(`${id}.*succeeded`));
    const opened = await gpuaas(['apps', 'open', running.id, '--print']);
    expect(opened.stdout).toMatch(new RegExp(`^http://[a-z0-9-]+\\.localhost:${platform.appsPort}/`));
    const stopped = await gpuaas(['apps', 'stop', running.id, '--wait']);
    expect(stopped.stdout).toMatch(/stopped\s+cancelled/);
    expect((await gpuaas(['apps', 'cost', id])).stdout).toMatch(
      /share of the machine\s+\d+\.\d+ USD\s+requests\s+-\s+total\s+\d+\.\d+ USD/,
    );
    expect((await gpuaas(['release', on, '--yes', '--wait'])).code).toBe(0);
  });

  it('shows price and stock', async () => {
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
    expect((await admin('teams', 'list', '--fields', 'name', '--all')).stdout).toBe(
      'NAME\nAcme Research\nscience\n',
    );
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

  it('answers programs as the contract says', async () => {
    const checker = new ResponseValidator(document as unknown as ContractDocument);
    const asMember = (...args: string[]) => gpuaas([...args, '--json']);
    const asOperator = (...args: string[]) => gpuaas([...args, '--json'], platform.keys.operator);
    const answers = async (pending: Promise<Result>, method: string, path: string, status = 200) => {
      const { code, stdout, stderr } = await pending;
      expect(code, stderr).toBe(0);
      const headers = { 'content-type': 'application/json', 'x-correlation-id': 'none', location: '/' };
      const answer = { method, path, status, headers, body: stdout };
      expect(checker.mismatch(answer), path).toBeNull();
      return JSON.parse(stdout) as Record<string, never>;
    };
    await answers(asMember('me'), 'GET', '/api/v1/me');
    await answers(asMember('skus'), 'GET', '/api/v1/skus');
    await answers(asMember('list'), 'GET', '/api/v1/allocations');
    await answers(asMember('explain', '--gpus', '8'), 'POST', '/api/v1/placements/explain');
    await answers(asMember('top'), 'GET', '/api/v1/allocations');
    await answers(gpuaas(['cost', '--json'], platform.keys.admin), 'GET', '/api/v1/billing/reports/costs');
    const launch = asMember('launch', '--gpus', '1', '--max-duration', '3600', '--wait');
    const { id } = await answers(launch, 'POST', '/api/v1/allocations', 202);
    const one = '/api/v1/allocations/{allocation_id}';
    await answers(asMember('show', id!), 'GET', one);
    await answers(asMember('extend', id!, '--by', '60'), 'POST', `${one}/extend`);
    await answers(asMember('allocations', 'release', id!, '--wait'), 'POST', `${one}/release`, 202);
    const watched = await asMember('watch', id!);
    const types = watched.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event_type: string }).event_type);
    expect(types).toContain('allocation.active');
    expect(types.at(-1)).toBe('allocation.released');

    const node = '/api/v1/admin/nodes/{node_id}';
    const host = 'sim-h200-01';
    await answers(asOperator('admin', 'top'), 'GET', '/api/v1/admin/nodes');
    await answers(asOperator('admin', 'unblock'), 'GET', '/api/v1/admin/cleanup-queue');
    await answers(asOperator('admin', 'audit', 'verify'), 'GET', '/api/v1/admin/audit-logs/verification');
    const enrol = asOperator('admin', 'enrol', 'new-host', '--region', 'uae-north-1');
    await answers(enrol, 'POST', '/api/v1/admin/node-enrolments', 201);
    await answers(asOperator('admin', 'discover', host, '--wait'), 'GET', `${node}/slice-topology/discovery`);
    await answers(asOperator('admin', 'approve', host), 'POST', `${node}/resource-slots/approve`);
    const drain = asOperator('admin', 'drain', host, '--reason', 'fans', '--wait');
    expect(await answers(drain, 'POST', `${node}/drain`)).toMatchObject({ draining: true });
    await answers(asOperator('admin', 'resume', host), 'POST', `${node}/resume`);
    await answers(asOperator('admin', 'tasks'), 'GET', '/api/v1/admin/tasks');
    await answers(asOperator('admin', 'incidents'), 'GET', '/api/v1/admin/incidents');
    const price = ['--sku', 'h200-sxm-slice', '--region', 'uae-north-1', '--per-gpu-hour', '3.10 USD'];
    const later = ['--effective-from', '2999-01-01T00:00:00Z', '--reason', 'dearer power'];
    const priced = await answers(
      asOperator('admin', 'prices', 'create', ...price, ...later),
      'POST',
      '/api/v1/admin/prices',
      201,
    );
    expect(priced).toMatchObject({ per_gpu_hour: { currency: 'USD', micros: 3_100_000 } });
    const policy = ['admin', 'policies', 'set', 'auth.sign_in_idle_seconds', '--value', '7200'];
    expect(await answers(asOperator(...policy), 'PUT', '/api/v1/admin/policies/{policy_name}')).toMatchObject(
      { value: 7200 },
    );
  }, 300_000);

  it('says what is wrong and what to do next', async () => {
    const well = await gpuaas(['doctor', '--json']);
    expect(well.code, well.stdout).toBe(0);
    const { items } = JSON.parse(well.stdout) as { items: { check: string; result: string }[] };
    expect(items.filter(({ result }) => result === 'failed')).toEqual([]);
    const away = await cli.run(['--url', 'http://127.0.0.1:1', 'doctor'], { GPUAAS_API_KEY: 'k' });
    expect(away).toMatchObject({ code: 1, stdout: expect.stringContaining('does not respond') as string });
    const asked = await gpuaas(['launch']);
    expect(asked).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--gpus 1') as string,
    });
    const unknown = await gpuaas(['launch', '--gpus', '1', '--sku', 'none', '--region', 'uae-north-1']);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Next: see gpuaas skus') as string,
    });
    const nobody = await gpuaas(['me'], 'gpk_wrong');
    expect(nobody).toMatchObject({ code: 4, stderr: expect.stringContaining('gpuaas login') as string });
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

const canRun = hasTmux && existsSync('/usr/bin/bwrap') && existsSync('/usr/bin/ssh');

describe.skipIf(!canRun)('gpuaas in a terminal (needs tmux, bubblewrap and ssh)', () => {
  const terminal = new Terminal();
  beforeAll(async () => {
    await terminal.open({
      PATH: `${cli.home}:${process.env['PATH']}`,
      HOME: cli.home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      PS1: '$ ',
      GPUAAS_URL: platform.baseUrl,
      GPUAAS_API_KEY: platform.keys.member,
    });
    const folder = join(cli.home, 'keys');
    await mkdir(folder, { recursive: true });
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'laptop')]);
    expect((await gpuaas(['ssh-keys', 'create', join(folder, 'laptop.pub'), '--name', 'laptop'])).code).toBe(
      0,
    );
    await terminal.type(`gpuaas() { "${process.execPath}" "${cli.main}" "$@"; echo "ended with $?"; }`);
    await terminal.press('Enter');
    await terminal.clear();
  });
  afterAll(() => terminal.close());

  const run = async (line: string): Promise<void> => {
    await terminal.clear();
    await terminal.type(line);
    await terminal.press('Enter');
  };
  const live = async (): Promise<{ name: string; state: string; id: string }[]> => {
    const { stdout } = await gpuaas(['allocations', 'list', '--state', 'live', '--json']);
    return (JSON.parse(stdout) as { items: components['schemas']['Allocation'][] }).items;
  };

  it('asks for what launch needs, shows the way, and ends with a machine', async () => {
    await run('gpuaas launch');
    await terminal.shows('How many GPUs?');
    await terminal.press('Down', 'Enter');
    await terminal.shows('Which image?');
    await terminal.press('Enter');
    await terminal.shows('Which SSH keys?');
    await terminal.press('Enter');
    await terminal.shows('Name (empty = generated)');
    await terminal.type('Not A Name');
    await terminal.press('Enter');
    await terminal.shows('lower-case letters, digits and hyphens');
    await terminal.type('by-hand');
    await terminal.press('Enter');
    await terminal.shows('Auto-release');
    await terminal.press('Enter');
    await terminal.shows('Launch 2 × h200-sxm-slice in uae-north-1 for 5.98 USD per hour?');
    await terminal.press('Enter');
    await terminal.shows(/✔ Reserve GPUs[^]*✔ Wait for SSH[^]*by-hand {2}active[^]*ended with 0/);
    const [machine] = await live();
    expect(machine).toMatchObject({ name: 'by-hand', state: 'active' });
    await run('gpuaas ssh -i "$HOME/keys/laptop" by-hand');
    await terminal.shows(/by-hand\S*[$#:~]/);
    await terminal.type(`sh -c 'echo "up $((6 * 7))"; exec sleep 1000'`);
    await terminal.press('Enter');
    // The key is for the program, not for a shell that is about to start it.
    await terminal.shows('up 42');
    await terminal.press('C-c');
    await terminal.shows(/up 42[^]*by-hand\S*[$#:~]/);
    await terminal.type('echo "in $((40 + 2))"');
    await terminal.press('Enter');
    await terminal.shows('in 42');
    await terminal.type('exit');
    await terminal.press('Enter');
    await terminal.shows('ended with ');
    await run(`gpuaas release --yes ${machine!.id}`);
    await terminal.shows(/✔ Wipe the disks[^]*✔ Verify the wipe[^]*✔ Released[^]*ended with 0/);
  });

  it('launches nothing when it is left at a question', async () => {
    await run('gpuaas launch');
    await terminal.shows('How many GPUs?');
    await terminal.press('C-c');
    await terminal.shows(/cancelled\.[^]*ended with 2/);
    expect(await live()).toEqual([]);
  });

  it('leaves the lease alone when it is left on the way', async () => {
    const all = JSON.parse((await gpuaas(['launch', '--gpus', '8', '--wait', '--json'])).stdout) as {
      id: string;
    };
    await run('gpuaas launch --gpus 1 --queue --name waits');
    await terminal.shows(/waits {2}queued/);
    await terminal.press('C-c');
    await terminal.shows(/waits goes on without you[^]*gpuaas release [^]*ended with 2/);
    const queued = (await live()).find(({ name }) => name === 'waits')!;
    expect(queued.state).toBe('queued');
    await gpuaas(['release', queued.id, '--yes']);
    await gpuaas(['release', all.id, '--yes', '--wait']);
  });

  it('gives the screen back after top', async () => {
    await run('gpuaas top');
    await terminal.shows('Nothing is running.');
    await terminal.press('q');
    await terminal.shows('ended with 0');
    expect(await terminal.screen()).not.toContain('Nothing is running.');
  });
});

describe('gpuaas at a server of another release', () => {
  it('warns and continues, with unknown values unchanged', async () => {
    const server = createServer((request, response) => {
      response.setHeader('x-gpuaas-version', '7.0.0').setHeader('content-type', 'application/json');
      if (request.url?.startsWith('/api/v1/teams'))
        return response.end(
          '{"items":[{"id":"1","name":"a","state":"hovering","aura":{"hue":7}}],"next_page":null}',
        );
      return response.writeHead(404).end('{"message":"moved"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = (...args: string[]) => cli.run(['--url', url, '--api-key', 'k', ...args]);
    const organization = crypto.randomUUID();
    const teams = await ask('teams', 'list', '--organization', organization);
    expect(teams).toMatchObject({ code: 0, stdout: expect.stringMatching(/a\s+1/) as string });
    expect(teams.stderr).toMatch(/server 7\.0\.0: gpuaas is older/);
    const json = await ask('teams', 'list', '--organization', organization, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ items: [{ aura: { hue: 7 } }] });
    const gone = await ask('me');
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('answered 404') as string });
    server.close();
  });
});
