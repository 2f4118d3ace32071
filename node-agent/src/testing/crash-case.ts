import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskKind, TaskParams } from '@gpuaas/contracts/tasks';
import { expect } from 'vitest';
import { keysOf } from '@gpuaas/contracts/typed-keys';
import { LIFECYCLE_POINTS } from '../crash-point.ts';
import { TASK_STAGES } from '../tasks/task-stages.ts';
import { startAgent } from './agent-process.ts';
import type { FakeControlPlane } from './fake-control-plane.ts';
import { HOSTNAME } from './simulated-host.ts';
import { provisionParams } from './slots.ts';
import { createKeyPair } from './ssh.ts';

/** The kind that must have run first, because this one reverts or extends it. */
const BUILDS_ON: Partial<Record<TaskKind, TaskKind>> = {
  'slice.vm_release': 'slice.vm_provision',
  'slice.ingress_set': 'slice.vm_provision',
  'allocation.deprovision_user': 'allocation.provision_user',
};

const KINDS = keysOf(TASK_STAGES);

/** Every point of every kind at which an agent can be killed. */
export const CRASH_POINTS: readonly [TaskKind, string][] = KINDS.flatMap((kind) =>
  pointsOf(kind).map((point): [TaskKind, string] => [kind, point]),
);

function pointsOf(kind: TaskKind): string[] {
  const [accepted, ...after] = LIFECYCLE_POINTS;
  return [accepted, ...TASK_STAGES[kind], ...after];
}

const DEADLINE = { timeout: 30_000 };

/** Kills an agent at the point, starts the next one, and compares the result with the expected state. */
export async function verifyCrashAt(
  kind: TaskKind,
  point: string,
  platform: FakeControlPlane,
  dir: string,
): Promise<void> {
  const env = { GPUAAS_AGENT_TOKEN: platform.token(), GPUAAS_AGENT_CRASH_AT: `${kind}:${point}` };
  const launch = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
  const { allocation_id, slots } = launch;
  const user = {
    allocation_id,
    hostname: launch.hostname,
    username: 'lease-1',
    ssh_authorized_keys: launch.ssh_authorized_keys,
  };
  const params: TaskParams = {
    'slice.topology_discover': {},
    'slice.prereq_check': {},
    'slice.ingress_set': {
      allocation_id,
      rules: [{ public_address: '203.0.113.7', protocol: 'tcp', public_port: 80, machine_port: 8080 }],
    },
    'slice.reconcile': { machines: [] },
    'node.set_mode': { mode: 'baremetal' },
    'slice.vm_provision': launch,
    'slice.vm_release': { allocation_id, slots, wipe_method: 'blkdiscard', stop_timeout_seconds: 5 },
    'allocation.provision_user': user,
    'allocation.deprovision_user': { allocation_id, username: user.username, stop_timeout_seconds: 5 },
  };
  const agents = [startAgent(dir, platform.url, env)];
  try {
    const earlier = BUILDS_ON[kind];
    if (earlier) {
      const provision = platform.queue(earlier, params[earlier]).task.task_id;
      await expect.poll(() => outcomesOf(platform, provision), DEADLINE).toHaveLength(1);
    }
    const first = platform.queue(kind, params[kind]);
    const taskId = first.task.task_id;
    expect(await agents[0]?.exited).toEqual([null, 'SIGKILL']);
    const before = await evidence(dir, launch);

    const reported = outcomesOf(platform, taskId).length;
    const beats = platform.heartbeats.length;
    agents.push(startAgent(dir, platform.url, env));
    // Wait until the dead agent's claim is gone, or it would swallow the next task.
    await expect.poll(() => platform.heartbeats.length, DEADLINE).toBeGreaterThan(beats + 1);
    const owed = point === 'recorded' || point === 'delivered';
    if (!owed) platform.queue(kind, params[kind], { ...first.task, epoch: 2 });
    await expect.poll(() => outcomesOf(platform, taskId), DEADLINE).toHaveLength(reported + 1);
    const [outcome, ...again] = outcomesOf(platform, taskId);
    expect(outcome).toMatchObject({ outcome: 'succeeded', epoch: owed ? 1 : 2 });
    for (const other of again) expect(other).toEqual(outcome);

    const after = await evidence(dir, launch);
    if (kind === 'allocation.provision_user') {
      expect(after).toMatchObject({ vms: 1, hostLeases: 1 });
      expect(await livingGuests(allocation_id)).toBe(1);
    }
    if (kind === 'allocation.deprovision_user') {
      expect(after).toMatchObject({ vms: 0, hostLeases: 0, users: 0 });
      expect(await livingGuests(allocation_id)).toBe(0);
    }
    if (kind === 'slice.vm_provision') {
      expect(after).toMatchObject({ vms: 1, leases: 1 });
      expect(await livingGuests(allocation_id)).toBe(1);
      const passed = (stage: string): boolean =>
        pointsOf(kind).indexOf(point) > pointsOf(kind).indexOf(stage);
      // Work finished before the crash is recognised and not repeated.
      if (passed('image')) expect(after.clonedAt).toBe(before.clonedAt);
      if (passed('vm')) expect(after.guestPid).toBe(before.guestPid);
    }
    if (kind === 'slice.vm_release') {
      expect(after).toMatchObject({ vms: 0, leases: 0, diskEntries: 0, networks: 0 });
      expect(await livingGuests(allocation_id)).toBe(0);
    }

    // The message of the first attempt, replayed: an epoch that is over.
    const refusals = platform.refusals.length;
    platform.queueSigned(first);
    await expect.poll(() => platform.refusals.length, DEADLINE).toBe(refusals + 1);
    expect(platform.refusals.at(-1)).toMatchObject({ code: 'task_replayed', task: { task_id: taskId } });
    expect(outcomesOf(platform, taskId)).toHaveLength(reported + 1);
  } finally {
    for (const agent of agents) await agent.stop();
  }
}

function outcomesOf(platform: FakeControlPlane, taskId: string) {
  return platform.outcomes.filter((one) => one.task_id === taskId);
}

async function evidence(dir: string, { allocation_id, slots }: TaskParams['slice.vm_provision']) {
  const disk = join(dir, 'disks', slots[0]?.nvme_serial ?? '');
  const names = (path: string): Promise<string[]> => readdir(path).catch(() => []);
  const run = await readFile(join(dir, 'vms', allocation_id, 'run.json'), 'utf8').catch(() => '{}');
  return {
    vms: (await names(join(dir, 'vms'))).filter((name) => name.endsWith('.json')).length,
    leases: (await names(join(dir, 'node-scheduler', 'leases'))).length,
    diskEntries: (await names(disk)).length,
    networks: (await names(join(dir, 'network'))).length,
    users: (await names(join(dir, 'users'))).length,
    hostLeases: (await names(join(dir, 'node-scheduler'))).filter((name) => name === 'host-lease.json')
      .length,
    clonedAt: await stat(join(disk, 'label.json')).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    ),
    guestPid: (JSON.parse(run) as { pid?: number }).pid ?? null,
  };
}

async function livingGuests(allocationId: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  const processes = lines.filter((line) => line.includes('gpuaas-guest') && line.includes(allocationId));
  const machines = processes.filter((line) => line.startsWith('/bin/sh'));
  // The container of a machine ends with it.
  return machines.length > 0 ? machines.length : processes.length;
}
