import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '@gpuaas/lab/apps/build/build-app';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-jupyter-'));
  await writeFile(join(folder, 'payload'), (await buildApp('notebook')).bytes);
  // Stands for Jupyter: says its version, then its arguments, and ends with 7 when it is asked to stop.
  await writeFile(
    join(folder, 'jupyter-server'),
    `#!/bin/sh
[ "$1" = --version ] && exit 0
printf '%s\\n' "$@" > "$HOME/arguments"
trap 'exit 7' TERM
while :; do sleep 0.1; done
`,
  );
  await chmod(join(folder, 'jupyter-server'), 0o755);
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

const start = (env: Record<string, string>) => ({
  cwd: folder,
  env: { HOME: folder, PATH: `${folder}:/usr/bin:/bin`, PORT: '8899', ...env },
});

it('the same payload starts the Jupyter of the machine, passes the stop on, and ends as it ends', async () => {
  const child = spawn(process.execPath, ['payload'], start({ BASE_PATH: '/x' }));
  const exited = once(child, 'exit');
  await expect
    .poll(async () => (await readFile(join(folder, 'arguments'), 'utf8').catch(() => '')).split('\n'))
    .toEqual([
      '--ServerApp.ip=127.0.0.1',
      '--ServerApp.port=8899',
      '--ServerApp.port_retries=0',
      '--ServerApp.open_browser=False',
      '--ServerApp.allow_remote_access=True',
      '--ServerApp.token=',
      '--ServerApp.password=',
      '--ServerApp.base_url=/x/',
      `--ServerApp.root_dir=${folder}`,
      '',
    ]);
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(7);
});

it('fails where Jupyter is required and missing', () => {
  const options = start({ PARAM_ENGINE: 'jupyter', PATH: '/nowhere' });
  const { status, stderr } = spawnSync(process.execPath, ['payload'], { ...options, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('This machine has no Jupyter');
});

it('refuses an engine that it does not know', () => {
  const { status, stderr } = spawnSync(process.execPath, ['payload'], {
    ...start({ PARAM_ENGINE: 'r' }),
    encoding: 'utf8',
  });
  expect(status).not.toBe(0);
  expect(stderr).toContain('PARAM_ENGINE must be');
});
