import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../platform/db/database.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { emit } from '../../platform/events/emit.ts';
import { LOG_START, readEvents } from '../../platform/events/event-log.ts';
import { newId } from '../../platform/ids.ts';
import { projectAllocation } from './project-allocations.ts';
import { rebuildReadModels } from './rebuild.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = created.drop;
  database = openDatabase(created.url);
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

describe('read models', () => {
  it('shows the latest event of each allocation, whatever the order or number of deliveries', async () => {
    const [first, second] = [newId(), newId()];
    await emitState(first, 'reserved');
    await emitState(second, 'reserved');
    await emitState(first, 'provisioning');
    await emitState(first, 'active');
    // Readers stay below the oldest transaction of the whole server, and other tests run on it too.
    const read = () => readEvents(database.db, LOG_START, 100);
    await expect.poll(async () => (await read()).length, { timeout: 30_000 }).toBe(4);
    const events = await read();
    for (const event of [...events, ...events.toReversed()]) await projectAllocation(database.db, event);
    expect(await overviews()).toEqual([
      { allocation_id: first, state: 'active', stage: 'active', message: 'it is active' },
      { allocation_id: second, state: 'reserved', stage: 'placement', message: 'it is reserved' },
    ]);
  });

  it('is the same after a rebuild from events', async () => {
    const before = await overviews();
    await database.db.updateTable('allocation_overviews').set({ message: 'damaged' }).execute();
    await rebuildReadModels(database.db);
    expect(await overviews()).toEqual(before);
  });
});
