import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPostmaster } from '@gpuaas/control-plane/platform/db/embedded/postmaster-file';
import { isPostmasterOf } from '@gpuaas/control-plane/platform/db/embedded/processes';
import { locateCluster } from '@gpuaas/control-plane/platform/db/embedded/cluster-location';
import { endAbandonedRuns, RUN_FOLDER } from './end-abandoned-runs.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'gpuaas-runs-'));
});
afterAll(async () => {
  await endAbandonedRuns(root);
  await rm(root, { recursive: true, force: true });
});

/** A run with its own Postgres that continues until it is killed. */
async function beginRun() {
  const dataDir = await mkdtemp(join(root, RUN_FOLDER));
  const start = import.meta.resolve('@gpuaas/control-plane/platform/db/embedded-postgres');
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { startEmbeddedPostgres } = await import(${JSON.stringify(start)});
       await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, settings: { fsync: 'off' } });
       console.log('ready');
       setInterval(() => undefined, 1000);`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  return {
    dataDir,
    folder: (await locateCluster(dataDir)).folder,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

it('ends the Postgres of a run that was killed and removes its folder, and leaves a run that lives alone', async () => {
  const run = await beginRun();
  await endAbandonedRuns(root);
  const { pid } = (await findPostmaster(run.folder))!;
  await run.kill();
  expect(await isPostmasterOf(pid, run.folder)).toBe(true);
  await endAbandonedRuns(root);
  expect(await isPostmasterOf(pid, run.folder)).toBe(false);
  await expect(access(run.dataDir)).rejects.toThrow('ENOENT');
});
