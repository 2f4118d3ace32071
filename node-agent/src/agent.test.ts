import { readdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signCanonical } from '@gpuaas/contracts/signing';
import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TaskOutcome } from './control-plane.ts';
import { identityFile, loadIdentity } from './identity/identity.ts';
import { writeMode } from './host/simulated/mode-file.ts';
import { startAgent, type AgentProcess } from './testing/agent-process.ts';
import { startFakeControlPlane, type FakeControlPlane } from './testing/fake-control-plane.ts';
import { HOSTNAME } from './testing/simulated-host.ts';
import { provisionParams } from './testing/slots.ts';
import { createKeyPair } from './testing/ssh.ts';

let platform: FakeControlPlane;
let dir: string;
let agents: AgentProcess[];

beforeEach(async () => {
  platform = await startFakeControlPlane();
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-agent-'));
  await writeMode(dir, 'slice');
  agents = [];
});

afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await platform.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

function start(env: Record<string, string> = {}): AgentProcess {
  const agent = startAgent(dir, platform.url, { GPUAAS_AGENT_TOKEN: platform.token(), ...env });
  agents.push(agent);
  return agent;
}

/** Wait until the dead agent's claim is gone, or it would swallow the next task. */
async function restart(env: Record<string, string> = {}): Promise<void> {
  const since = Date.now();
  start(env);
  const lastBeat = (): number => Date.parse(platform.heartbeats.at(-1)?.agent_time ?? '1970-01-01');
  await expect.poll(lastBeat, { timeout: 10_000 }).toBeGreaterThan(since);
}

async function outcomeOf(taskId: string): Promise<TaskOutcome> {
  await expect
    .poll(() => platform.outcomes.some((one) => one.task_id === taskId), { timeout: 15_000 })
    .toBe(true);
  const found = platform.outcomes.findLast((one) => one.task_id === taskId);
  if (!found) throw new Error('no outcome');
  return found;
}

function launch(slots = [0]) {
  return provisionParams(HOSTNAME, slots, [createKeyPair().public]);
}

function release(params: ReturnType<typeof launch>) {
  const { allocation_id, slots } = params;
  return { allocation_id, slots, wipe_method: 'blkdiscard' as const, stop_timeout_seconds: 5 };
}

it('enrols once, discovers, provisions and releases, and shows each stage', async () => {
  const agent = start();
  const discovery = await outcomeOf(platform.queue('slice.topology_discover', {}).task.task_id);
  expect(parseTaskOutput('slice.topology_discover', discovery.output).candidates).toHaveLength(8);

  const params = launch([0, 1, 2, 3]);
  const provision = platform.queue('slice.vm_provision', params).task.task_id;
  const provisioned = await outcomeOf(provision);
  expect(provisioned.outcome).toBe('succeeded');
  const stages = new Set(
    platform.progress.filter((one) => one.task_id === provision).map((one) => one.stage),
  );
  expect([...stages]).toEqual(['plan', 'image', 'seed', 'vm', 'network', 'readiness']);
  await expect.poll(() => platform.heartbeats.at(-1)?.vms).toMatchObject([{ state: 'running' }]);
  const facts = platform.heartbeats.at(-1);
  expect(facts?.leases).toHaveLength(4);
  expect(facts?.gpus?.map(({ state }) => state)).toEqual(Array(8).fill('ok'));
  expect(facts?.disks).toHaveLength(8);
  expect(Math.abs(facts?.clock_offset_ms ?? NaN)).toBeLessThan(30_000);
  expect((await readdir(join(dir, 'slices', params.allocation_id))).sort()).toEqual([
    'cloning.json',
    'meta-data.yaml',
    'user-data.yaml',
  ]);

  const released = await outcomeOf(platform.queue('slice.vm_release', release(params)).task.task_id);
  expect(released).toMatchObject({ outcome: 'succeeded', output: { vm_absent: true } });
  expect(await readdir(join(dir, 'vms'))).toEqual([]);
  expect(await readdir(join(dir, 'node-scheduler', 'leases'))).toEqual([]);
  expect(platform.enrolments).toBe(1);
  expect((await stat(identityFile(dir))).mode & 0o777).toBe(0o600);
  const log = agent.output() + (await readFile(identityFile(dir), 'utf8'));
  expect(agent.output()).not.toContain('PRIVATE KEY');
  expect(log).not.toContain(platform.token());
});

it.each(['slice.vm_provision:image', 'slice.vm_provision:vm', 'slice.vm_provision:readiness'])(
  'a crash at %s is made good by the next attempt',
  async (crashAt) => {
    const params = launch();
    const crashing = start({ GPUAAS_AGENT_CRASH_AT: crashAt });
    const { task } = platform.queue('slice.vm_provision', params);
    expect(await crashing.exited).toEqual([null, 'SIGKILL']);
    await restart({ GPUAAS_AGENT_CRASH_AT: crashAt });
    platform.queue('slice.vm_provision', params, { ...task, epoch: 2 });
    expect(await outcomeOf(task.task_id)).toMatchObject({ outcome: 'succeeded', epoch: 2 });
    expect(await readdir(join(dir, 'vms'))).toHaveLength(2);
  },
  30_000,
);

it('ends with a verified wipe after a crash during the wipe', async () => {
  const params = launch();
  const first = start({ GPUAAS_AGENT_CRASH_AT: 'slice.vm_release:verify' });
  await outcomeOf(platform.queue('slice.vm_provision', params).task.task_id);
  const { task } = platform.queue('slice.vm_release', release(params));
  await first.exited;
  expect(await readdir(join(dir, 'node-scheduler', 'leases'))).toHaveLength(1);
  await restart();
  platform.queue('slice.vm_release', release(params), { ...task, epoch: 2 });
  expect(await outcomeOf(task.task_id)).toMatchObject({
    outcome: 'succeeded',
    output: { wipes: [{ verified: true }] },
  });
});

it('sends an undelivered outcome after a restart', async () => {
  platform.refuse.push({ path: /complete$/, status: 503, code: 'unavailable', times: Infinity });
  const first = start();
  const { task } = platform.queue('slice.topology_discover', {});
  await expect
    .poll(() => readFile(join(dir, 'journal', `${task.task_id}.json`), 'utf8').catch(() => ''), {
      timeout: 10_000,
    })
    .toContain('"succeeded"');
  await first.stop();
  platform.refuse.length = 0;
  start();
  expect(await outcomeOf(task.task_id)).toMatchObject({ outcome: 'succeeded', epoch: 1 });
});

it('continues with the identity on disk, without a token', async () => {
  await outcomeOf((start(), platform.queue('slice.topology_discover', {})).task.task_id);
  await agents[0]?.stop();
  start({ GPUAAS_AGENT_TOKEN: '' });
  await outcomeOf(platform.queue('slice.topology_discover', {}).task.task_id);
  expect(platform.enrolments).toBe(1);
});

it('renews with a fresh key before the certificate runs out', async () => {
  platform.lifetimeMs = 5_000;
  start();
  await expect.poll(() => loadIdentity(dir), { timeout: 30_000 }).not.toBeNull();
  const before = await loadIdentity(dir);
  await expect.poll(() => platform.renewals, { timeout: 30_000 }).toBeGreaterThan(0);
  await expect.poll(async () => (await loadIdentity(dir))?.private_key_pem).not.toBe(before?.private_key_pem);
  await outcomeOf(platform.queue('slice.topology_discover', {}).task.task_id);
});

it('refuses a server whose CA is not the one in the token', async () => {
  const agent = start({ GPUAAS_AGENT_TOKEN: `gpe_${'s'.repeat(32)}.${'0'.repeat(64)}` });
  expect((await agent.exited)[0]).toBe(1);
  expect(agent.output()).toContain('does not present the CA named in the token');
  expect(platform.enrolments).toBe(0);
});

it('runs only tasks that are signed, for this host, known, valid, in time and new', async () => {
  start();
  const wrong = [
    platform.queue('slice.topology_discover', {}, { expires_at: new Date(0).toISOString() }),
    platform.queue('slice.topology_discover', {}, { kind: 'shell.run' }),
    platform.queue('slice.topology_discover', {}, { params: { command: 'id' } }),
  ];
  const codes = await Promise.all(wrong.map(async ({ task }) => (await outcomeOf(task.task_id)).error?.code));
  expect(codes).toEqual(['task_expired', 'kind_unknown', 'params_invalid']);

  const good = platform.queue('slice.topology_discover', {});
  await outcomeOf(good.task.task_id);
  const forged = {
    task: { ...good.task, task_id: crypto.randomUUID(), nonce: 'n1' },
    signature: good.signature,
  };
  platform.queueSigned(forged);
  platform.queueSigned(good);
  const alien = { ...good.task, task_id: crypto.randomUUID(), nonce: 'n2', node_id: crypto.randomUUID() };
  platform.queueSigned({
    task: alien,
    signature: signCanonical(alien, platform.authority.signing.privateKey),
  });
  const reused = platform.queue('slice.topology_discover', {}, { nonce: good.task.nonce });
  expect((await outcomeOf(reused.task.task_id)).error?.code).toBe('task_replayed');
  await outcomeOf(platform.queue('slice.topology_discover', {}).task.task_id);
  const reported = platform.outcomes.map((one) => one.task_id);
  expect(reported).not.toContain(forged.task.task_id);
  expect(reported).not.toContain(alien.task_id);
  expect(reported.filter((id) => id === good.task.task_id)).toHaveLength(1);
  const refused = (): string[] => platform.refusals.map(({ code }) => code).toSorted();
  await expect
    .poll(refused, { timeout: 10_000 })
    .toEqual([
      'kind_unknown',
      'params_invalid',
      'signature_invalid',
      'task_expired',
      'task_replayed',
      'task_replayed',
      'wrong_node',
    ]);
});

it('stops a task that a later attempt took over', async () => {
  start({ GPUAAS_SIM_FAULTS: 'slow_clone' });
  const params = launch();
  const { task } = platform.queue('slice.vm_provision', params);
  await expect
    .poll(() => platform.progress.some((one) => one.stage === 'image'), { timeout: 10_000 })
    .toBe(true);
  platform.refuse.push({ path: /progress$/, status: 409, code: 'task_fenced', times: 1 });
  await expect.poll(() => platform.refuse[0]?.times).toBe(0);
  await writeFile(join(dir, 'faults'), '');
  platform.queue('slice.vm_provision', params, { ...task, epoch: 2 });
  expect(await outcomeOf(task.task_id)).toMatchObject({ outcome: 'succeeded', epoch: 2 });
  expect(platform.outcomes).toHaveLength(1);
});

it('a release does not wait behind another allocation’s clone', async () => {
  start({ GPUAAS_SIM_FAULTS: 'slow_clone' });
  const slow = platform.queue('slice.vm_provision', launch([0])).task.task_id;
  await expect
    .poll(() => platform.progress.some((one) => one.stage === 'image'), { timeout: 10_000 })
    .toBe(true);
  const quick = platform.queue('slice.vm_release', release(launch([5]))).task.task_id;
  expect((await outcomeOf(quick)).outcome).toBe('succeeded');
  expect(platform.outcomes.map((one) => one.task_id)).not.toContain(slow);
});
