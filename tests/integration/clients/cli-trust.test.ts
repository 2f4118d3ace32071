import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { useCli, type Result } from '../../harness/cli/cli.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const SLICE = { sku: 'h200-sxm-slice', region: 'uae-north-1' };
const canRun = existsSync('/usr/bin/bwrap') && existsSync('/usr/bin/ssh');

const cli = useCli();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
});
afterAll(() => platform?.stop());

function gpuaas(args: string[], key: string = platform.keys.member): Promise<Result> {
  return cli.run(args, { GPUAAS_URL: platform.baseUrl, GPUAAS_API_KEY: key });
}
const operator = (...args: string[]): Promise<Result> => gpuaas(args, platform.keys.operator);

async function setPrice(micros: number): Promise<void> {
  const body = { ...SLICE, per_gpu_hour: { currency: 'USD', micros }, confirm_large_change: true };
  await unwrap(platform.operator.POST('/api/v1/admin/prices', { body }));
}

async function setPolicy(name: string, value: number): Promise<void> {
  const params = { path: { policy_name: name } };
  await unwrap(platform.operator.PUT('/api/v1/admin/policies/{policy_name}', { params, body: { value } }));
}

describe('the price of a launch', () => {
  it('is the one that was shown, or the launch is refused with both prices', async () => {
    const { projectId, member } = platform;
    const body = {
      project_id: projectId,
      ...SLICE,
      gpu_count: 1,
      image: 'H200-ubuntu-24.04-gpuaas-slice',
      expected_price_per_gpu_hour: { currency: 'USD', micros: 2_990_000 },
    };
    await setPrice(3_490_000);
    const refused = await member.POST('/api/v1/allocations', { body });
    expect(refused.response.status).toBe(409);
    expect(refused.error).toMatchObject({
      code: 'price_changed',
      expected_per_gpu_hour: { currency: 'USD', micros: 2_990_000 },
      current_per_gpu_hour: { currency: 'USD', micros: 3_490_000 },
    });
    const cheaper = { ...body, expected_price_per_gpu_hour: { currency: 'USD', micros: 9_990_000 } };
    expect((await member.POST('/api/v1/allocations', { body: cheaper })).response.status).toBe(409);
  });

  it('never exceeds --max-price', async () => {
    const dear = await gpuaas(['launch', '--gpus', '1', '--max-price', '3 USD']);
    expect(dear).toMatchObject({ code: 1, stdout: '' });
    expect(dear.stderr).toContain('A GPU hour costs 3.49 USD, more than --max-price 3.00 USD');
    expect((await gpuaas(['launch', '--gpus', '1', '--max-price', '3 EUR'])).code).toBe(2);
    const made = await gpuaas([
      'launch',
      '--gpus',
      '1',
      '--name',
      'priced',
      '--max-price',
      '3.49 USD',
      '--json',
    ]);
    expect(made.code, made.stderr).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({ quote: { per_gpu_hour: { micros: 3_490_000 } } });
  });
});

describe('a release', () => {
  it('needs a yes, and says truly what it did', async () => {
    const refused = await gpuaas(['release', 'priced']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('pass --yes');
    const shown = await gpuaas(['show', 'priced', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ release_requested_at: null });
    const asked = await gpuaas(['release', 'priced', '--yes']);
    expect(asked.code, asked.stderr).toBe(0);
    expect(asked.stdout).toMatch(/^priced {2}(\w+, release requested|releasing|released)$/m);
    const done = await gpuaas(['allocations', 'get', 'priced', '--json']);
    expect(done.code, done.stderr).toBe(0);
    const { id } = JSON.parse(done.stdout) as components['schemas']['Allocation'];
    await expect
      .poll(async () => (await gpuaas(['show', 'priced'])).stdout, { timeout: 60_000 })
      .toMatch(/^priced {2}released$/m);
    expect((await gpuaas(['show', 'priced'])).stdout).toContain(id);
  }, 120_000);
});

describe('lists and fields', () => {
  it('say that they are cut, and lead with what people look for', async () => {
    const policies = await operator('admin', 'policies', 'list');
    expect(policies.stdout).toMatch(/^NAME\s+.*VALUE/);
    expect(policies.stderr).toContain('Only the first 50 are shown; --all shows all.');
    const all = await operator('admin', 'policies', 'list', '--all');
    expect(all.stderr).toBe('');
    expect(all.stdout.split('\n').length).toBeGreaterThan(policies.stdout.split('\n').length);
    expect((await operator('admin', 'prices', 'list')).stdout).toMatch(/^SKU\s+PER GPU HOUR/);
    expect((await operator('admin', 'nodes', 'list')).stdout).toMatch(/^HOSTNAME\s+POSTURE\s+CONNECTION/);
  });

  it('refuse unknown fields', async () => {
    const wrong = await gpuaas(['list', '--fields', 'name,nope']);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('No field nope; available: id,');
    expect((await gpuaas(['list', '--fields', 'name,quote.per_hour.currency,failure.code'])).code).toBe(0);
  });
});

describe('errors with --json', () => {
  it('are JSON, whether the server or the command refuses', async () => {
    const missing = await gpuaas(['show', crypto.randomUUID(), '--json']);
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.stderr)).toMatchObject({ code: 'not_found', status: 404 });
    const usage = await gpuaas(['launch', '--gpus', 'many', '--json']);
    expect(usage.code).toBe(2);
    expect(JSON.parse(usage.stderr)).toMatchObject({ code: 'wrong_usage' });
    const away = await cli.run(['--url', 'http://127.0.0.1:1', 'me', '--json'], { GPUAAS_API_KEY: 'k' });
    expect(JSON.parse(away.stderr)).toMatchObject({ code: 'unreachable' });
  }, 120_000);
});

describe('questions', () => {
  it('me shows permissions', async () => {
    expect((await gpuaas(['me'])).stdout).toMatch(
      /Permissions in the project default\n[^]*allocation\.create/,
    );
  });

  it('explain takes quota and money into account', async () => {
    const fits = await gpuaas(['explain', '--gpus', '4']);
    expect(fits.code, fits.stderr).toBe(0);
    expect(fits.stdout).toContain('can be launched now.');
    await setPolicy('quotas.project_gpus', 2);
    const over = await gpuaas(['explain', '--gpus', '4']);
    expect(over).toMatchObject({ code: 1 });
    expect(over.stdout).toContain('cannot be launched now: over quota.');
    await setPolicy('quotas.project_gpus', 100);
    await setPolicy('billing.minimum_launch_seconds', 86_400);
    await setPrice(999_000_000_000);
    const poor = await gpuaas(['explain', '--gpus', '4']);
    expect(poor).toMatchObject({ code: 1 });
    expect(poor.stdout).toMatch(/not enough money\.[^]*money +The balance must cover/);
    await setPrice(2_990_000);
  });

  it('open prints the address of the page', async () => {
    const { stdout } = await gpuaas(['open', 'priced', '--print']);
    expect(stdout).toMatch(new RegExp(`^${platform.baseUrl}/allocations/[0-9a-f-]{36}\n$`));
  });
});

describe.skipIf(!canRun)('gpuaas ssh (needs bubblewrap and ssh)', () => {
  it('says that a machine without keys cannot be reached, and which keys another accepts', async () => {
    const made = await gpuaas(['launch', '--gpus', '1', '--name', 'keyless', '--wait', '--json']);
    expect(made.code, made.stderr).toBe(0);
    const refused = await gpuaas(['ssh', 'keyless', 'nvidia-smi', '-L']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('SSH is not possible: no key was chosen');
    expect((await gpuaas(['logs', 'keyless'])).code).toBe(0);
  }, 120_000);
});
