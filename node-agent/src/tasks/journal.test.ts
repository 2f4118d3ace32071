import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Task } from './check-task.ts';
import { openJournal, type Journal } from './journal.ts';

let dir: string;
let journal: Journal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-journal-'));
  journal = await openJournal(dir);
});
afterEach(() => rm(dir, { recursive: true }));

function task(change: Partial<Task> = {}): Task {
  return {
    task_id: randomUUID(),
    kind: 'slice.topology_discover',
    node_id: randomUUID(),
    params: {},
    nonce: randomUUID(),
    epoch: 1,
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    correlation_id: randomUUID(),
    ...change,
  };
}

const done = { outcome: 'succeeded', output: {} } as const;

it('refuses the same and a lower epoch, also after a restart', async () => {
  const first = task({ epoch: 3 });
  expect((await journal.admit(first)).verdict).toBe('run');
  const restarted = await openJournal(dir);
  for (const epoch of [3, 2, 1]) {
    expect((await restarted.admit({ ...first, epoch })).verdict).toBe('replayed');
  }
});

it('runs an unfinished task again under a higher epoch', async () => {
  const first = task();
  await journal.admit(first);
  expect((await (await openJournal(dir)).admit({ ...first, epoch: 2 })).verdict).toBe('run');
});

it('delivers a finished task’s outcome under the higher epoch instead of running it again', async () => {
  const first = task();
  await journal.admit(first);
  await journal.finish(first.task_id, done);
  await journal.markDelivered(first.task_id, 1);
  const restarted = await openJournal(dir);
  expect(restarted.undelivered()).toEqual([]);
  expect(await restarted.admit({ ...first, epoch: 2 })).toMatchObject({
    verdict: 'deliver',
    entry: { epoch: 2, outcome: done },
  });
  expect(restarted.undelivered()).toHaveLength(1);
});

it('refuses a nonce that another task has used', async () => {
  const first = task();
  await journal.admit(first);
  expect((await journal.admit(task({ nonce: first.nonce }))).verdict).toBe('replayed');
});

it('does not count a late delivery for a later epoch', async () => {
  const first = task();
  await journal.admit(first);
  await journal.finish(first.task_id, done);
  await journal.admit({ ...first, epoch: 2 });
  await journal.markDelivered(first.task_id, 1);
  expect(journal.undelivered()).toHaveLength(1);
});

it('forgets only delivered tasks that expired long ago', async () => {
  const old = task({ expires_at: new Date(Date.now() - 3 * 86_400_000).toISOString() });
  const owed = task({ expires_at: old.expires_at });
  const fresh = task();
  await journal.admit(task({ expires_at: old.expires_at }));
  for (const one of [old, owed, fresh]) {
    await journal.admit(one);
    await journal.finish(one.task_id, done);
    if (one !== owed) await journal.markDelivered(one.task_id, 1);
  }
  await journal.prune(new Date());
  expect((await readdir(join(dir, 'journal'))).sort()).toEqual(
    [`${owed.task_id}.json`, `${fresh.task_id}.json`].sort(),
  );
});
