import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { TaskKind, TaskParams } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ControlPlane, SignedTask, TaskOutcome } from '../control-plane.ts';
import type { Host } from '../host/host.ts';
import { createPlatformClock } from '../platform-clock.ts';
import { HOSTNAME, openTestHost, silentLog, type TestHost } from '../testing/simulated-host.ts';
import { provisionParams } from '../testing/slots.ts';
import { createKeyPair } from '../testing/ssh.ts';
import { openJournal } from './journal.ts';
import { openRefusalLog } from './refusals.ts';
import { createTaskRunner, type TaskRunner } from './task-runner.ts';

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

const signing = generateKeyPairSync('ed25519');
const nodeId = randomUUID();

let machine: TestHost;
let stop: AbortController;
let outcomes: Map<string, TaskOutcome>;
beforeEach(async () => {
  machine = await openTestHost();
  stop = new AbortController();
  outcomes = new Map();
});
afterEach(async () => {
  stop.abort();
  await machine.close();
});

async function openRunner(slow: Partial<Host>): Promise<TaskRunner> {
  const identity = {
    node_id: nodeId,
    signing_public_key_pem: signing.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
  const controlPlane = {
    identity,
    reportProgress: () => Promise.resolve(),
    completeTask: ({ task_id }: { task_id: string }, outcome: TaskOutcome) =>
      Promise.resolve(void outcomes.set(task_id, outcome)),
  } as unknown as ControlPlane;
  return createTaskRunner({
    controlPlane,
    journal: await openJournal(machine.dir),
    refusals: await openRefusalLog(machine.dir),
    clock: createPlatformClock(() => Date.now()),
    tools: { ...machine, host: { ...machine.host, ...slow } },
    crashPoint: () => undefined,
    log: silentLog,
    signal: stop.signal,
  });
}

function signed<K extends TaskKind>(kind: K, params: TaskParams[K]): SignedTask {
  const task: SignedTask['task'] = {
    task_id: randomUUID(),
    kind,
    node_id: nodeId,
    params: { ...params },
    nonce: randomUUID(),
    epoch: 1,
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    correlation_id: randomUUID(),
  };
  return { task, signature: signCanonical(task, signing.privateKey) };
}

describe('the release of an allocation', () => {
  it('does not wait for a slow task of another kind on the same allocation', async () => {
    let begun: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    let finish: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const runner = await openRunner({
      setIngress: async (...call) => {
        begun();
        await slow;
        return await machine.host.setIngress(...call);
      },
    });
    const launch = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
    await runner.accept(signed('slice.vm_provision', launch));
    const { allocation_id, slots } = launch;

    const rule = {
      public_address: '203.0.113.7',
      protocol: 'tcp',
      public_port: 443,
      machine_port: 8443,
    } as const;
    const ingress = signed('slice.ingress_set', { allocation_id, rules: [rule] });
    const settingIngress = runner.accept(ingress);
    await hasBegun;

    const release = signed('slice.vm_release', {
      allocation_id,
      slots,
      wipe_method: 'blkdiscard',
      stop_timeout_seconds: 5,
    });
    const released = runner.accept(release);
    await vi.waitFor(() => expect(outcomes.get(release.task.task_id)?.outcome).toBe('succeeded'), {
      timeout: 15_000,
    });
    await released;
    expect(await machine.leases.list()).toEqual([]);

    // What ends late finds no machine and leaves nothing behind.
    finish();
    await settingIngress;
    expect(outcomes.get(ingress.task.task_id)).toMatchObject({
      outcome: 'failed',
      error: { code: 'vm_missing' },
    });
  });

  it('waits for a launch of the same machine, which it would otherwise tear apart', async () => {
    const order: string[] = [];
    const runner = await openRunner({
      cloneImage: async (...call) => {
        order.push('launching');
        await machine.host.cloneImage(...call);
      },
      awaitReadiness: async (...call) => {
        const ready = await machine.host.awaitReadiness(...call);
        order.push('launched');
        return ready;
      },
      removeVm: async (...call) => {
        order.push('removed');
        return await machine.host.removeVm(...call);
      },
    });
    const launch = provisionParams(HOSTNAME, [1], [createKeyPair().public]);
    const { allocation_id, slots } = launch;
    const launched = runner.accept(signed('slice.vm_provision', launch));
    await vi.waitFor(() => expect(order).toEqual(['launching']), { timeout: 15_000 });
    await runner.accept(
      signed('slice.vm_release', {
        allocation_id,
        slots,
        wipe_method: 'blkdiscard',
        stop_timeout_seconds: 5,
      }),
    );
    await launched;
    expect(order).toEqual(['launching', 'launched', 'removed']);
  });
});
