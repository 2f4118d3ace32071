import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, it } from 'vitest';
import { writeMode } from './host/simulated/mode-file.ts';
import { verifyCrashAt } from './testing/crash-case.ts';
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

/** Points that the other tests of the agent do not reach; all of them are in crash-matrix.deep.test.ts. */
const SAMPLE: [TaskKind, string][] = [
  ['slice.prereq_check', 'check'],
  ['slice.vm_provision', 'outcome'],
  ['slice.vm_release', 'delivered'],
];

it.each(SAMPLE)('recovers an agent killed in %s at %s without doing work twice', async (kind, point) => {
  await verifyCrashAt(kind, point, platform, dir);
});
