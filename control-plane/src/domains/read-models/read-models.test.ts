import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../platform/db/database.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { emit } from '../../platform/events/emit.ts';
import { LOG_START, readEvents } from '../../platform/events/event-log.ts';
import { newId } from '../../platform/ids.ts';
import { projectAllocations } from './project-allocations.ts';
import { leasesOnHosts } from '../allocations/leases-on-hosts.ts';
import { rebuildReadModels } from './rebuild.ts';

let database: Database;
let drop: () => Promise<void>;
let url: string;
beforeAll(async () => {
  const created = await createTestDatabase();
  ({ drop, url } = created);
  database = openDatabase(url);
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

const organizationId = newId();
const projectId = newId();

async function emitState(allocationId: string, state: 'reserved' | 'provisioning' | 'active'): Promise<void> {
  await database.db.transaction().execute((tx) =>
    emit(tx, {
      type: `allocation.${state}`,
      subjectId: allocationId,
      organizationId,
      correlationId: newId(),
      payload: {
        allocation_id: allocationId,
        organization_id: organizationId,
        project_id: projectId,
        state,
        stage: state === 'active' ? 'active' : 'placement',
        status: 'done',
        message: `it is ${state}`,
        percent: 100,
      },
    }),
  );
}

async function overviews() {
  return await database.db
    .selectFrom('allocation_overviews')
    .select(['allocation_id', 'state', 'stage', 'message'])
    .orderBy('allocation_id')
    .execute();
}

async function insertOverview(allocationId: string, position: bigint): Promise<void> {
  await database.db
    .insertInto('allocation_overviews')
    .values({
      allocation_id: allocationId,
      organization_id: organizationId,
      project_id: projectId,
      state: 'released',
      stage: 'released',
      status: 'done',
      message: 'long ago',
      percent: 100,
      event_position: position,
      projected_at: new Date(),
    })
    .execute();
}

describe('read models', () => {
  it('shows the latest event of each allocation, for any order and number of deliveries', async () => {
    const [first, second] = [newId(), newId()];
    await emitState(first, 'reserved');
    await emitState(second, 'reserved');
    await emitState(first, 'provisioning');
    await emitState(first, 'active');
    // Readers stay below the oldest transaction of the whole server, and other tests run on it too.
    const read = () => readEvents(database.db, LOG_START, 100);
    await expect.poll(async () => (await read()).length, { timeout: 30_000 }).toBe(4);
    const events = await read();
    for (const event of [...events, ...events.toReversed()]) await projectAllocations(database.db, [event]);
    await projectAllocations(database.db, [...events.toReversed(), ...events]);
    expect(await overviews()).toEqual([
      { allocation_id: first, state: 'active', stage: 'active', message: 'it is active' },
      { allocation_id: second, state: 'reserved', stage: 'placement', message: 'it is reserved' },
    ]);
  });

  it('is the same after a rebuild from events', async () => {
    const before = await overviews();
    await database.db.updateTable('allocation_overviews').set({ message: 'damaged' }).execute();
    await rebuildReadModels({ db: database.db, leases: leasesOnHosts });
    expect(await overviews()).toEqual(before);
  });

  it('keeps rows whose events were dropped and removes rows that never had one', async () => {
    const before = await overviews();
    const [old, invented] = [newId(), newId()];
    const { db } = database;
    const { first } = await db
      .selectFrom('outbox_events')
      .select((eb) => eb.fn.min('position').as('first'))
      .executeTakeFirstOrThrow();
    // The position of a month that retention has dropped, and one that belongs to no event.
    await insertOverview(old, first - 1n);
    await insertOverview(invented, first + 1_000_000n);
    expect(await rebuildReadModels({ db, leases: leasesOnHosts })).toEqual({
      events: 4,
      kept: 1,
      removed: 1,
      hosts: 0,
    });
    expect(await overviews()).toEqual(
      [...before, { allocation_id: old, state: 'released', stage: 'released', message: 'long ago' }].toSorted(
        (a, b) => a.allocation_id.localeCompare(b.allocation_id),
      ),
    );
  });

  it('is rebuilt by the command', async () => {
    const before = await overviews();
    await database.db.updateTable('allocation_overviews').set({ message: 'damaged' }).execute();
    const script = fileURLToPath(new URL('../../../scripts/rebuild-read-models.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script], {
      env: { ...process.env, DATABASE_URL: url },
    });
    expect(stdout).toBe(
      '4 events replayed, 1 older rows kept, 0 rows without an event removed, 0 hosts projected again\n',
    );
    const [kept] = before.filter(({ message }) => message === 'long ago');
    const expected = before.map((row) => (row === kept ? { ...row, message: 'damaged' } : row));
    expect(await overviews()).toEqual(expected);
  });
});
