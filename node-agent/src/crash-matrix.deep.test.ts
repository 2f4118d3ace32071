import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';
import { writeMode } from './host/simulated/mode-file.ts';
import { CRASH_POINTS, verifyCrashAt } from './testing/crash-case.ts';
import { startFakeControlPlane, type FakeControlPlane } from './testing/fake-control-plane.ts';

let platform: FakeControlPlane;
let dir: string;

beforeEach(async () => {
  platform = await startFakeControlPlane();
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-crash-'));
  await writeMode(dir, 'slice');
});
afterEach(async () => {
  await platform.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

it.each(CRASH_POINTS)(
  'recovers an agent killed in %s at %s without doing work twice',
  async (kind, point) => {
    await verifyCrashAt(kind, point, platform, dir);
  },
);
