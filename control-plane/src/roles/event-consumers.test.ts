import { expect, test } from 'vitest';
import { registerConsumer } from '../platform/events/consumer-lease.ts';
import { RELAY } from '../platform/events/nats-relay.ts';
import { openTestEvents } from '../platform/events/testing.ts';
import type { Services } from '../platform/services.ts';
import { startEventConsumers } from './event-consumers.ts';

test('a start without NATS_URL retires the relay of earlier', async () => {
  const events = await openTestEvents();
  await registerConsumer(events.db, RELAY, 'now');
  const consumers = await startEventConsumers(events as unknown as Services, {
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
