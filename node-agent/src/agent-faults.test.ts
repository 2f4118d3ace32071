import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeMode } from './host/simulated/mode-file.ts';
import { startAgent, type AgentProcess } from './testing/agent-process.ts';
import { startFakeControlPlane, type FakeControlPlane } from './testing/fake-control-plane.ts';

const DAY_MS = 86_400_000;
const deadline = { timeout: 30_000 };
let platform: FakeControlPlane;
let dir: string;
let agents: AgentProcess[];

beforeEach(async () => {
  platform = await startFakeControlPlane();
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-mishap-'));
  await writeMode(dir, 'slice');
  agents = [];
});
afterEach(async () => {
  for (const agent of agents) await agent.stop();
  await platform.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

function start(faults = ''): AgentProcess {
  const agent = startAgent(dir, platform.url, {
    GPUAAS_AGENT_TOKEN: platform.token(),
    GPUAAS_SIM_FAULTS: faults,
  });
  agents.push(agent);
  return agent;
}

async function outcomeOf(taskId: string) {
  const found = () => platform.outcomes.find((one) => one.task_id === taskId);
  await expect.poll(found, deadline).toBeDefined();
  return found();
}

it.each([
  ['clock_skew', DAY_MS],
  ['clock_skew_back', -DAY_MS],
])(
  'a host with %s takes what is in time, refuses what is not, and reports its offset',
  async (fault, offset) => {
    start(fault);
    const good = platform.queue('slice.topology_discover', {}).task.task_id;
    expect(await outcomeOf(good)).toMatchObject({ outcome: 'succeeded' });
    const expires_at = new Date(Date.now() - 60_000).toISOString();
    const late = platform.queue('slice.topology_discover', {}, { expires_at }).task.task_id;
    expect(await outcomeOf(late)).toMatchObject({ outcome: 'failed', error: { code: 'task_expired' } });
    const measured = (): number => platform.heartbeats.at(-1)?.clock_offset_ms ?? NaN;
    await expect.poll(() => Math.abs(measured() - offset) < 5_000, deadline).toBe(true);
  },
);

it('a cut network is visible to the platform only, and heals', async () => {
  start();
  await expect.poll(() => platform.heartbeats.length, deadline).toBeGreaterThan(0);
  await writeFile(join(dir, 'faults'), 'network_cut');
  await expect.poll(() => agents[0]?.output() ?? '', deadline).toContain('network to the platform is cut');
  const { task } = platform.queue('slice.topology_discover', {});
  const beats = platform.heartbeats.length;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(platform.heartbeats.length).toBeLessThanOrEqual(beats + 1);
  expect(platform.outcomes).toEqual([]);
  await writeFile(join(dir, 'faults'), '');
  expect(await outcomeOf(task.task_id)).toMatchObject({ outcome: 'succeeded', epoch: 1 });
});

it('an agent dies once in the middle of a task; the next attempt finishes it', async () => {
  const first = start('agent_dies');
  const { task } = platform.queue('slice.prereq_check', {});
  expect(await first.exited).toEqual([null, 'SIGKILL']);
  expect((await readFile(join(dir, 'faults'), 'utf8')).trim()).toBe('');
  const beats = platform.heartbeats.length;
  start('agent_dies');
  await expect.poll(() => platform.heartbeats.length, deadline).toBeGreaterThan(beats + 1);
  platform.queue('slice.prereq_check', {}, { ...task, epoch: 2 });
  expect(await outcomeOf(task.task_id)).toMatchObject({ outcome: 'succeeded', epoch: 2 });
});
