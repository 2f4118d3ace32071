import { expect, test } from 'vitest';
import { registerConsumer } from '../platform/events/consumer-lease.ts';
import { RELAY } from '../platform/events/nats-relay.ts';
import { openTestEvents } from '../platform/events/testing.ts';
import type { PlatformServices } from './domain-answers.ts';
import { startEventConsumers } from './event-consumers.ts';

test('a start without NATS_URL retires the former relay', async () => {
  const events = await openTestEvents();
  await registerConsumer(events.db, RELAY, 'now');
  const consumers = await startEventConsumers(events as unknown as PlatformServices, {
    natsUrl: null,
    smtp: null,
    publicUrl: 'http://127.0.0.1:1',
  });
  const names = (await events.db.selectFrom('event_consumers').select('name').execute()).map(
    ({ name }) => name,
  );
  await consumers.stop();
  await events.close();
  expect(names).not.toContain(RELAY);
  expect(names.length).toBeGreaterThan(0);
});
