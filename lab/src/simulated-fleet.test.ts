import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TaskParams } from '@gpuaas/contracts/tasks';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  startFakeControlPlane,
  type FakeControlPlane,
} from '../../node-agent/src/testing/fake-control-plane.ts';
import { provisionParams } from '../../node-agent/src/testing/slots.ts';
import { createKeyPair } from '../../node-agent/src/testing/ssh.ts';
import { startSimulatedFleet, type SimulatedFleet } from './simulated-fleet.ts';

const HOST = 'sim-h200-01';
const quiet = { info: () => undefined, warn: () => undefined };
let platform: FakeControlPlane;
let stateDir: string;
let minted: string[];

beforeEach(async () => {
  platform = await startFakeControlPlane();
  platform.lifetimeMs = 24 * 3_600_000;
  stateDir = await mkdtemp(join(tmpdir(), 'gpuaas-fleet-'));
  minted = [];
});
afterEach(async () => {
  await platform.close();
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

async function start(change: { count?: number; oneProcess?: boolean } = {}): Promise<SimulatedFleet> {
  const client = createGpuaasClient({
    baseUrl: 'http://platform.test',
    fetch: async (request) => {
      minted.push(((await (request as Request).json()) as { hostname: string }).hostname);
      const body = { id: crypto.randomUUID(), token: platform.token(), expires_at: new Date().toISOString() };
      return Response.json(body, { status: 201 });
    },
  });
  return await startSimulatedFleet({
    count: 1,
    serverUrl: platform.url,
    stateDir,
    speed: 0,
    client,
    region: 'lab-1',
    log: quiet,
    ...change,
  });
}

async function perform<K extends 'node.set_mode' | 'slice.vm_provision'>(
  kind: K,
  params: TaskParams[K],
): Promise<void> {
  const { task } = platform.queue(kind, params);
  await expect
    .poll(() => platform.outcomes.find((one) => one.task_id === task.task_id)?.outcome, { timeout: 30_000 })
    .toBe('succeeded');
}

async function launch(): Promise<{ pid: number; allocationId: string }> {
  const params = provisionParams(HOST, [0], [createKeyPair().public]);
  await perform('node.set_mode', { mode: 'slice' });
  await perform('slice.vm_provision', params);
  return { pid: await guestPid(params.allocation_id), allocationId: params.allocation_id };
}

async function guestPid(allocationId: string): Promise<number> {
  const run = await readFile(join(stateDir, HOST, 'vms', allocationId, 'run.json'), 'utf8');
  return (JSON.parse(run) as { pid: number }).pid;
}

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return status !== '' && !/^State:\s+Z/m.test(status);
}

it('a killed agent is restarted, and its VM is not affected', async () => {
  const fleet = await start();
  try {
    const vm = await launch();
    const first = fleet.nodes[0]?.pid();
    const bootId = platform.heartbeats.at(-1)?.boot_id;
    fleet.killAgent(HOST, 'SIGKILL');
    await expect.poll(() => fleet.nodes[0]?.pid() ?? first, { timeout: 30_000 }).not.toBe(first);
    const beats = platform.heartbeats.length;
    await expect.poll(() => platform.heartbeats.length, { timeout: 30_000 }).toBeGreaterThan(beats);
    expect(platform.heartbeats.at(-1)).toMatchObject({
      boot_id: bootId,
      vms: [{ allocation_id: vm.allocationId, state: 'running' }],
    });
    expect(await guestPid(vm.allocationId)).toBe(vm.pid);
    expect(minted).toEqual([HOST]);
  } finally {
    await fleet.stop();
  }
});

it('stop ends everything; the next start is a reboot with the same VMs', async () => {
  const fleet = await start();
  const vm = await launch();
  const agent = fleet.nodes[0]?.pid() ?? 0;
  await fleet.stop();
  expect([await isAlive(vm.pid), await isAlive(agent)]).toEqual([false, false]);
  const before = platform.heartbeats.at(-1)?.boot_id;
  platform.heartbeats.length = 0;
  const again = await start();
  try {
    await expect
      .poll(() => platform.heartbeats.at(-1)?.vms, { timeout: 30_000 })
      .toMatchObject([{ state: 'running' }]);
    expect(platform.heartbeats.at(-1)?.boot_id).not.toBe(before);
    expect(await guestPid(vm.allocationId)).not.toBe(vm.pid);
  } finally {
    await again.stop();
  }
});

it('a supervisor that is killed takes agents and VMs with it', async () => {
  const script = fileURLToPath(new URL('testing/fleet-supervisor.ts', import.meta.url));
  const supervisor = spawn(process.execPath, [script, platform.url, stateDir, platform.token()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(supervisor.stdout, 'data')) as [Buffer];
  const agent = Number(line.toString());
  const vm = await launch();
  supervisor.kill('SIGKILL');
  await expect
    .poll(async () => [await isAlive(vm.pid), await isAlive(agent)], { timeout: 30_000 })
    .toEqual([false, false]);
});

it('many hosts share a process; one that reboots affects no other', async () => {
  const fleet = await start({ count: 12, oneProcess: true });
  try {
    expect(new Set(fleet.nodes.map((node) => node.pid())).size).toBe(1);
    expect(minted).toHaveLength(12);
    const pid = fleet.nodes[0]?.pid();
    const boots = (): number => new Set(platform.heartbeats.map((beat) => beat.boot_id)).size;
    await expect.poll(boots, { timeout: 30_000 }).toBe(12);
    await writeFile(join(stateDir, HOST, 'faults'), 'host_reboot');
    await expect.poll(boots, { timeout: 30_000 }).toBe(13);
    expect((await readFile(join(stateDir, HOST, 'faults'), 'utf8')).trim()).toBe('');
    expect(fleet.nodes[0]?.pid()).toBe(pid);
  } finally {
    await fleet.stop();
  }
});

it('a host whose certificate was revoked gets a token from the lab and recovers', async () => {
  const fleet = await start();
  try {
    platform.refuse.push({ path: /heartbeat|claim/, status: 401, code: 'unauthenticated', times: Infinity });
    await expect.poll(() => platform.enrolments, { timeout: 30_000 }).toBe(2);
    platform.refuse.length = 0;
    const beats = platform.heartbeats.length;
    await expect.poll(() => platform.heartbeats.length, { timeout: 30_000 }).toBeGreaterThan(beats);
  } finally {
    await fleet.stop();
  }
});
