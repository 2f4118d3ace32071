import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dropMonthPartitions } from '../db/month-partitions.ts';
import { servicesAsRole } from '../db/scope.ts';
import { newId } from '../ids.ts';
import { assertConsumersKeepUp, listConsumerLag } from './consumer-lag.ts';
import { registerConsumer, acquireLease } from './consumer-lease.ts';
import { RELAY } from './nats-relay.ts';
import { retireRelay } from './retire-relay.ts';
import { openTestEvents, type TestEvents } from './testing.ts';

let events: TestEvents;
beforeEach(async () => {
  events = await openTestEvents();
});
afterEach(() => events.close());

const reader = () => servicesAsRole(events, 'gpuaas_relay').db;
const worker = () => servicesAsRole(events, 'gpuaas_worker').db;

test('a former relay makes nothing unready and keeps no events once it is retired', async () => {
  await sql`select create_month_partitions('2020-05-15', 0)`.execute(events.db);
  await sql`insert into outbox_events (event_id, event_type, occurred_at, correlation_id, subject_id, payload)
    values (${newId()}, 'node.enrolled', '2020-05-10', ${newId()}, ${newId()}, '{}')`.execute(events.db);
  await registerConsumer(events.db, RELAY, 'beginning');
  await expect(assertConsumersKeepUp(reader(), 60)).rejects.toThrow(`${RELAY} is`);
  expect(await dropMonthPartitions(worker(), 'outbox_events', 90)).not.toContain('outbox_events_2020_05');
  expect(await retireRelay(reader())).toBe('retired');
  await assertConsumersKeepUp(reader(), 60);
  expect(await dropMonthPartitions(worker(), 'outbox_events', 90)).toContain('outbox_events_2020_05');
});

test('a running relay, and every other consumer, stays', async () => {
  await registerConsumer(events.db, 'webhooks', 'beginning');
  await registerConsumer(events.db, RELAY, 'now');
  await acquireLease(events.db, RELAY, 'another process');
  expect(await retireRelay(reader())).toBe('running');
  expect((await listConsumerLag(events.db)).map(({ name }) => name)).toEqual([RELAY, 'webhooks']);
});
