import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dropMonths } from '../db/keep-months.ts';
import { actingAs } from '../db/scope.ts';
import { newId } from '../ids.ts';
import { assertConsumersKeepUp, listConsumerLag } from './consumer-lag.ts';
import { registerConsumer, takeLease } from './consumer-lease.ts';
import { RELAY } from './nats-relay.ts';
import { retireRelay } from './retire-relay.ts';
import { openTestEvents, type TestEvents } from './testing.ts';

let events: TestEvents;
beforeEach(async () => {
  events = await openTestEvents();
});
afterEach(() => events.close());

const reader = () => actingAs(events, 'gpuaas_relay').db;
const worker = () => actingAs(events, 'gpuaas_worker').db;

test('a relay of earlier makes nothing unready and keeps no events once it is retired', async () => {
  await sql`select create_month_partitions('2020-05-15', 0)`.execute(events.db);
  await sql`insert into outbox_events (event_id, event_type, occurred_at, correlation_id, subject_id, payload)
    values (${newId()}, 'node.enrolled', '2020-05-10', ${newId()}, ${newId()}, '{}')`.execute(events.db);
  await registerConsumer(events.db, RELAY, 'beginning');
  await expect(assertConsumersKeepUp(reader(), 60)).rejects.toThrow(`${RELAY} is`);
  expect(await dropMonths(worker(), 'outbox_events', 90)).not.toContain('outbox_events_2020_05');
  expect(await retireRelay(reader())).toBe('retired');
  await assertConsumersKeepUp(reader(), 60);
  expect(await dropMonths(worker(), 'outbox_events', 90)).toContain('outbox_events_2020_05');
});

test('a relay that runs, and every other consumer, stays', async () => {
  await registerConsumer(events.db, 'webhooks', 'beginning');
  await registerConsumer(events.db, RELAY, 'now');
  await takeLease(events.db, RELAY, 'another process');
  expect(await retireRelay(reader())).toBe('running');
  expect((await listConsumerLag(events.db)).map(({ name }) => name)).toEqual([RELAY, 'webhooks']);
});
