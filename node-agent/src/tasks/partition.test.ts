import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ControlPlane, SignedTask } from '../control-plane.ts';
import { silentLog } from '../testing/simulated-host.ts';
import { deliverOutcome } from './deliver-outcome.ts';
import { openJournal, type Journal } from './journal.ts';
import { pullTasks } from './task-loop.ts';

/** Seconds without the platform, in virtual time. */
const PARTITIONS = [1, 10, 60, 600, 3_600, 86_400];

let dir: string;
let journal: Journal;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-partition-'));
  journal = await openJournal(dir);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(dir, { recursive: true });
});

const task: SignedTask['task'] = {
  task_id: randomUUID(),
  kind: 'slice.topology_discover',
  node_id: randomUUID(),
  params: {},
  nonce: 'n',
  epoch: 1,
  issued_at: new Date().toISOString(),
  expires_at: new Date(Date.now() + 600_000).toISOString(),
  correlation_id: randomUUID(),
};

/** A platform that cannot be reached before a time; only the calls that a test needs. */
function unreachableUntil(heal: number, calls: Partial<ControlPlane>): ControlPlane {
  const reach = <A extends unknown[], R>(call: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) => {
    return async (...args) => {
      if (Date.now() < heal) throw new Error('unreachable');
      return await call(...args);
    };
  };
  const { completeTask, claimTask } = calls;
  return {
    ...calls,
    ...(completeTask ? { completeTask: reach(completeTask) } : {}),
    ...(claimTask ? { claimTask: reach(claimTask) } : {}),
  } as ControlPlane;
}

it.each(PARTITIONS)('after %i s an outcome is delivered once, within half a minute', async (seconds) => {
  const start = Date.now();
  const deliveries: number[] = [];
  const controlPlane = unreachableUntil(start + seconds * 1000, {
    completeTask: () => Promise.resolve(void deliveries.push(Date.now() - start)),
  });
  await journal.admit(task);
  const entry = await journal.finish(task.task_id, { outcome: 'succeeded', output: {} });
  const { signal } = new AbortController();
  const delivered = deliverOutcome(entry, {
    controlPlane,
    journal,
    crashPoint: () => undefined,
    log: silentLog,
    signal,
  });
  await vi.advanceTimersByTimeAsync(seconds * 1000 + 31_000);
  await delivered;
  expect(deliveries).toHaveLength(1);
  expect(deliveries[0]).toBeGreaterThanOrEqual(seconds * 1000);
  expect(deliveries[0]).toBeLessThanOrEqual(seconds * 1000 + 30_000);
  expect(journal.undelivered()).toEqual([]);
});

it.each(PARTITIONS)(
  'after %i s tasks are claimed again within ten seconds, without a storm',
  async (seconds) => {
    const start = Date.now();
    let claimed = 0;
    let tries = 0;
    const stop = new AbortController();
    const controlPlane = unreachableUntil(start + seconds * 1000, {
      claimTask: () => {
        claimed ||= Date.now() - start;
        stop.abort();
        return Promise.resolve(null);
      },
    });
    const { claimTask } = controlPlane;
    controlPlane.claimTask = (...args) => {
      tries += 1;
      return claimTask(...args);
    };
    const runner = { accept: () => Promise.resolve() };
    const pulled = pullTasks({ controlPlane, runner, log: silentLog, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(seconds * 1000 + 11_000);
    await pulled;
    expect(claimed - seconds * 1000).toBeLessThanOrEqual(10_000);
    // At least five seconds apart once the backoff has grown.
    expect(tries).toBeLessThanOrEqual(seconds / 5 + 12);
  },
);
