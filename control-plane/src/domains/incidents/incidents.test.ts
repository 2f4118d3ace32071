import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { type Database, openDatabase, type Tx } from '../../platform/db/database.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { getIncident, listIncidents } from './list-incidents.ts';
import { acknowledgeIncident, closeIncident } from './manage-incident.ts';
import { openIncident, resolveIncident, type NewIncident } from './open-incident.ts';
import { reportFailedWorkflow, reportFailingTick, reportLostWorkers } from './report-failures.ts';
import { listParkedEvents, retryParkedEvent, skipEvent } from './parked-events.ts';
import { watchBackgroundWork } from './watch-background-work.ts';
import { watchDeadlines, type Overdue } from './watch-deadlines.ts';

let test: { url: string; drop(): Promise<void> };
let database: Database;
let services: Services;
let operator: string;
let now = new Date('2026-11-15T10:00:00Z');

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase(test.url);
  services = { db: database.db, clock: { now: () => now } } as Services;
  operator = newId();
  await database.db
    .insertInto('users')
    .values({ id: operator, issuer: 'test', subject: 'operator', email: 'o@test', name: 'Operator' })
    .execute();
});
afterAll(async () => {
  await database?.close();
  await test?.drop();
});
beforeEach(() => database.db.deleteFrom('incidents').execute());

const blocked: NewIncident = {
  type: 'slot_cleanup_blocked',
  targetType: 'slot',
  targetId: 'slot-1',
  summary: 'No proof',
};

function open(incident: NewIncident): Promise<string> {
  return database.db.transaction().execute((tx) => openIncident(tx, now, incident));
}

describe('an incident', () => {
  it('carries severity, runbook and deadline of its type', async () => {
    const incident = await getIncident(database.db, await open(blocked));
    expect(incident).toMatchObject({
      state: 'open',
      severity: 'major',
      runbook: 'docs/runbooks/slot-cleanup-blocked.md',
      deadline: '2026-11-15T11:00:00.000Z',
      occurrences: 1,
    });
  });

  it('is a single one while open, for any number of concurrent reports', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => open(blocked)));
    expect(new Set(ids).size).toBe(1);
    expect((await getIncident(database.db, ids[0]!)).occurrences).toBe(10);
    await resolveIncident(database.db, now, blocked, 'Wiped.');
    expect(await open(blocked)).not.toBe(ids[0]);
  });

  it('does not exist when the transaction that saw it is rolled back', async () => {
    const aborted = database.db.transaction().execute(async (tx) => {
      await openIncident(tx, now, blocked);
      throw new Error('rolled back');
    });
    await expect(aborted).rejects.toThrow('rolled back');
    expect((await listIncidents(database.db, { limit: 10 })).items).toEqual([]);
  });

  it('is acknowledged and resolved by people, the first one each', async () => {
    const id = await open(blocked);
    const { db } = database;
    const acknowledged = await db.transaction().execute((tx) => acknowledgeIncident(tx, now, id, operator));
    expect(acknowledged).toMatchObject({ state: 'acknowledged', acknowledged_by: operator });
    const closed = await db.transaction().execute((tx) => closeIncident(tx, now, id, operator, 'New disk.'));
    expect(closed).toMatchObject({ state: 'resolved', resolved_by: operator, resolution: 'New disk.' });
    const again = await db
      .transaction()
      .execute((tx) => closeIncident(tx, now, id, operator, 'Other story.'));
    expect(again.resolution).toBe('New disk.');
    const missing = db.transaction().execute((tx) => acknowledgeIncident(tx, now, newId(), operator));
    await expect(missing).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is listed newest first, by state and type, page by page', async () => {
    for (let index = 0; index < 5; index += 1) {
      now = new Date(now.getTime() + 1000);
      await open({ ...blocked, targetId: `slot-${index}` });
    }
    await open({ ...blocked, type: 'worker_lost', targetId: 'w' });
    await resolveIncident(database.db, now, { ...blocked, targetId: 'slot-0' }, 'Wiped.');
    const query = { state: 'open', type: 'slot_cleanup_blocked', limit: 3 } as const;
    const first = await listIncidents(database.db, query);
    const second = await listIncidents(database.db, { ...query, page: first.next_page! });
    const targets = [...first.items, ...second.items].map((incident) => incident.target_id);
    expect(targets).toEqual(['slot-4', 'slot-3', 'slot-2', 'slot-1']);
    expect(second.next_page).toBeNull();
    expect((await listIncidents(database.db, { state: 'resolved', limit: 3 })).items).toHaveLength(1);
  });
});

describe('the platform reports', () => {
  const openTypes = async (): Promise<string[]> =>
    (await listIncidents(database.db, { state: 'open', limit: 50 })).items.map((incident) => incident.type);

  it('what is overdue, once, until it moves on', async () => {
    let overdue: Overdue[] = [{ targetType: 'workflow', targetId: 'w1', summary: 'slow' }];
    const tick = watchDeadlines([async () => overdue]);
    const period = { from: now, to: now };
    await tick.run(services, period);
    await tick.run(services, period);
    const { items } = await listIncidents(database.db, { limit: 10 });
    expect(items).toMatchObject([{ type: 'workflow_stuck', target_id: 'w1', occurrences: 1 }]);
    overdue = [];
    await tick.run(services, period);
    expect(await getIncident(database.db, items[0]!.id)).toMatchObject({
      state: 'resolved',
      resolved_by: null,
    });
  });

  it('lost workers, one incident per host', async () => {
    const lost = ['a', 'b'].map((executorId) => ({ executorId, host: 'rack-1', lastHeartbeatAt: now }));
    await database.db.transaction().execute((tx) => reportLostWorkers(services, tx, lost));
    expect(await openTypes()).toEqual(['worker_lost']);
  });

  const watch = () => watchBackgroundWork.run(services, { from: now, to: now });
  const loseWorker = (executorId: string, host: string) =>
    database.db
      .transaction()
      .execute((tx) => reportLostWorkers(services, tx, [{ executorId, host, lastHeartbeatAt: now }]));
  const addWorker = async (executor_id: string, host: string) => {
    const started_at = new Date(now.getTime() + 1000);
    await database.db.insertInto('workflow_executors').values({ executor_id, host, started_at }).execute();
  };

  it('a lost worker until one runs on its host again', async () => {
    await loseWorker('gone', 'rack-2');
    await addWorker('elsewhere', 'rack-3');
    await watch();
    expect(await openTypes()).toEqual(['worker_lost']);
    await addWorker('back', 'rack-2');
    await watch();
    const { items } = await listIncidents(database.db, { limit: 1 });
    expect(items).toMatchObject([{ state: 'resolved', resolved_by: null }]);
    expect(items[0]!.resolution).toContain('back');
  });

  it('a lost worker of a host that stays away until others have worked quietly for a while', async () => {
    await database.db.deleteFrom('workflow_executors').execute();
    await loseWorker('gone', 'rack-4');
    now = new Date(now.getTime() + 16 * 60_000);
    await watch();
    expect(await openTypes()).toEqual(['worker_lost']);
    await addWorker('elsewhere', 'rack-5');
    await watch();
    expect(await openTypes()).toEqual([]);
  });

  it('parked events, one incident per consumer, until each is settled', async () => {
    const { db } = database;
    await sql`insert into event_consumers (name, cursor_xid, cursor_position) values ('webhooks', '0', 0)`.execute(
      db,
    );
    const ids = [newId(), newId()];
    for (const id of ids)
      await db
        .insertInto('parked_events')
        .values({
          id,
          consumer: 'webhooks',
          event_id: newId(),
          event_type: 'node.enrolled',
          subject_id: newId(),
          event: '{}',
          failures: 10,
          last_error: 'no hostname',
        })
        .execute();
    await watch();
    const { items } = await listIncidents(db, { limit: 10 });
    expect(items).toMatchObject([{ type: 'event_parked', target_id: 'webhooks', detail: { parked: 2 } }]);
    expect(items[0]!.summary).toContain('no hostname');
    const transact = <T>(work: (tx: Tx) => Promise<T>) => db.transaction().execute(work);
    const skip = { now, by: operator, reason: 'Rebuilt.' };
    await transact((tx) => skipEvent(tx, ids[0]!, skip));
    await expect(transact((tx) => retryParkedEvent(tx, ids[0]!))).rejects.toMatchObject({
      code: 'parked_event_settled',
    });
    await watch();
    expect(await openTypes()).toEqual(['event_parked']);
    await transact((tx) => skipEvent(tx, ids[1]!, skip));
    await watch();
    expect(await openTypes()).toEqual([]);
    const open = await listParkedEvents(db, { state: 'open', limit: 10 });
    const settled = await listParkedEvents(db, { state: 'settled', limit: 1 });
    expect(open.items).toEqual([]);
    expect(settled).toMatchObject({ items: [{ id: ids[1], state: 'skipped', reason: 'Rebuilt.' }] });
    expect(settled.next_page).not.toBeNull();
  });

  it('workflows that gave up', async () => {
    await reportFailedWorkflow(services, { workflowId: 'w', name: 'test', error: new Error('no image') });
    const { items } = await listIncidents(database.db, { limit: 10 });
    expect(items).toMatchObject([{ type: 'workflow_failed', summary: 'test gave up: no image' }]);
  });

  it('ticks that fail again and again, not those that failed once', async () => {
    await reportFailingTick(services, { tick: 't', attempts: 1, error: new Error('x') });
    expect(await openTypes()).toEqual([]);
    await reportFailingTick(services, { tick: 't', attempts: 3, error: new Error('x') });
    expect(await openTypes()).toEqual(['tick_failing']);
  });
});
