import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('is installed from its package alone, with nothing beside it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'gpuaas cli '));
  try {
    const npm = (...args: string[]) =>
      run('npm', args, { cwd: ROOT, env: { ...process.env, npm_config_offline: 'true' } });
    await npm('run', 'build', '-w', 'cli');
    await npm('pack', './cli/dist/package', '--pack-destination', home);
    const [tarball] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
    await npm('install', '--global', '--prefix', home, join(home, tarball!));
    const gpuaas = (...args: string[]) =>
      run(join(home, 'bin', 'gpuaas'), args, { cwd: home, env: { PATH: process.env['PATH'], HOME: home } });
    expect((await gpuaas('--version')).stdout).toBe('0.1.0\n');
    expect((await gpuaas('admin', 'nodes', 'drain', '--help')).stdout).toContain('--reason');
    await expect(gpuaas('--url', 'http://127.0.0.1:1', 'me')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot reach the platform') as string,
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
