import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSlotLeases, type SlotLeases } from './slot-leases.ts';

let dir: string;
let leases: SlotLeases;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-leases-'));
  leases = await openSlotLeases(dir);
});
afterEach(() => rm(dir, { recursive: true }));

it('gives a slot to exactly one of many concurrent callers', async () => {
  const asked = Array.from({ length: 20 }, (_, index) => leases.take(['slot-1'], `allocation-${index}`));
  const results = await Promise.allSettled(asked);
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  expect(await leases.list()).toHaveLength(1);
});

it('takes all slots or none', async () => {
  await leases.take(['slot-2'], 'other');
  await expect(leases.take(['slot-1', 'slot-2', 'slot-3'], 'mine')).rejects.toMatchObject({
    code: 'slot_leased',
  });
  expect((await leases.list()).map((lease) => lease.slot_id)).toEqual(['slot-2']);
});

it('lets an allocation take its own slot again, also after a restart', async () => {
  await leases.take(['slot-1'], 'mine');
  await (await openSlotLeases(dir)).take(['slot-1', 'slot-2'], 'mine');
  expect(await leases.list()).toHaveLength(2);
});

it('keeps slots already held when a later take fails', async () => {
  await leases.take(['slot-1'], 'mine');
  await leases.take(['slot-2'], 'other');
  await expect(leases.take(['slot-1', 'slot-2'], 'mine')).rejects.toThrow('slot-2');
  expect((await leases.list()).map((lease) => lease.slot_id)).toEqual(['slot-1', 'slot-2']);
});

it('drops only slots of the same allocation', async () => {
  await leases.take(['slot-1'], 'other');
  await leases.drop(['slot-1', 'slot-2'], 'mine');
  expect(await leases.list()).toHaveLength(1);
});

it('skips an incomplete write left by a crash', async () => {
  await writeFile(join(dir, 'node-scheduler', 'leases', 'slot-1.json.ab12.tmp'), '{"slot');
  expect(await leases.list()).toEqual([]);
  await leases.take(['slot-1'], 'mine');
});
