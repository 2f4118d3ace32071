import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listConsumerLag } from '../events/consumer-lag.ts';
import { headCursor, LOG_START, readEvents, type LoggedEvent } from '../events/event-log.ts';
import { waitUntil } from '../events/testing.ts';
import { newId } from '../ids.ts';
import { openDatabase, type Database, type Db } from './database.ts';
import { fixedPolicies } from '../policy/testing.ts';
import { dropMonthPartitions, maintainPartitions } from './month-partitions.ts';
import { servicesAsRole } from './scope.ts';
import { createTestDatabase } from './testing.ts';

let database: Database;
let owner: Db;
let worker: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url);
  owner = database.db;
  worker = servicesAsRole({ db: owner, database }, 'gpuaas_worker').db;
});
afterAll(async () => {
  await database.close();
  await drop();
});

/** Three months of long ago with one event and one audit row each. */
beforeEach(async () => {
  await sql`delete from event_consumers`.execute(owner);
  await dropMonthPartitions(owner, 'outbox_events', 365);
  await dropMonthPartitions(owner, 'audit_logs', 365);
  await sql`select create_month_partitions('2020-05-15', 0)`.execute(owner);
  await sql`select create_month_partitions('2020-06-15', 0)`.execute(owner);
  for (const month of ['04', '05', '06']) {
    await sql`insert into outbox_events (event_id, event_type, occurred_at, correlation_id, subject_id, payload)
      values (${newId()}, 'node.enrolled', ${`2020-${month}-10`}, ${newId()}, ${newId()}, '{}')`.execute(
      owner,
    );
    await sql`insert into audit_logs (id, occurred_at, actor_role, action, target_type, target_id, result, correlation_id)
      values (${newId()}, ${`2020-${month}-10`}, 'r', 'a', 't', 'i', 'succeeded', ${newId()})`.execute(owner);
  }
});

async function months(table: string): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    select right(inhrelid::regclass::text, 7) as month from pg_inherits where inhparent = ${table}::regclass order by 1`.execute(
    owner,
  );
  return rows.map((row) => row.month);
}

const thisMonth = (offset: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1))
    .toISOString()
    .slice(0, 7)
    .replace('-', '_');
};

/** Transaction ids belong to the whole server: tests in other databases may delay events briefly. */
async function oldEvents(): Promise<LoggedEvent[]> {
  await waitUntil(async () => (await readEvents(owner, LOG_START, 100)).length === 3);
  return await readEvents(owner, LOG_START, 100);
}

async function readUpTo(count: number): Promise<void> {
  const events = await oldEvents();
  const { xid, position } = events[count - 1]!.cursor;
  await sql`insert into event_consumers (name, cursor_xid, cursor_position) values ('reader', ${xid}::xid8, ${position}::bigint)`.execute(
    owner,
  );
}

describe('months', () => {
  test('are there from the last one to three ahead, and making them again changes nothing', async () => {
    await maintainPartitions.run(
      { db: worker, policies: fixedPolicies({ 'events.retention_days': 36_500 }) },
      { from: new Date(), to: new Date() },
    );
    for (const table of ['audit_logs', 'outbox_events']) {
      expect(await months(table)).toEqual(expect.arrayContaining([-1, 0, 1, 2, 3].map(thisMonth)));
    }
  });

  test('of events go when they are old and read by everyone, and not before', async () => {
    await readUpTo(2);
    expect(await dropMonthPartitions(worker, 'outbox_events', 90)).toEqual([
      'outbox_events_2020_04',
      'outbox_events_2020_05',
    ]);
    expect(await listConsumerLag(owner)).toMatchObject([{ name: 'reader', eventsBehind: 1 }]);
    await sql`delete from event_consumers`.execute(owner);
    expect(await dropMonthPartitions(worker, 'outbox_events', 90)).toEqual(['outbox_events_2020_06']);
  });

  test('of audit rows stay until they are retired', async () => {
    await maintainPartitions.run(
      { db: worker, policies: fixedPolicies() },
      { from: new Date(), to: new Date() },
    );
    expect(await dropMonthPartitions(worker, 'audit_logs', 365)).toEqual([]);
    expect(await months('audit_logs')).toContain('2020_04');
  });

  test('cannot be dropped to shorten history to nothing', async () => {
    await expect(dropMonthPartitions(worker, 'audit_logs', 364)).rejects.toThrow('keeps at least 365 days');
    await expect(dropMonthPartitions(worker, 'outbox_events', 6)).rejects.toThrow('keeps at least 7 days');
    await expect(
      sql`select drop_month_partitions('allocations', '2020-01-01')`.execute(worker),
    ).rejects.toThrow('has no months');
    const { db: tenant } = servicesAsRole({ db: owner, database }, 'gpuaas_tenant');
    await expect(dropMonthPartitions(tenant, 'outbox_events', 90)).rejects.toThrow('permission denied');
  });
});

test('the log is read across months in its order, by index', async () => {
  const events = await oldEvents();
  expect(await headCursor(owner)).toEqual(events.at(-1)!.cursor);
  const plan = await owner.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select * from outbox_events e where (e.xid, e.position) > ('5'::xid8, 5::bigint)
      order by e.xid, e.position limit 100`.execute(tx);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).toContain('Merge Append');
  expect(plan).not.toMatch(/->\s+Sort/);
  expect(plan).toMatch(/Index Cond: \(ROW\(xid, "position"\) > ROW/);
});
