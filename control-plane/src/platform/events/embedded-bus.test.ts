import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { assertConsumersKeepUp, listConsumerLag } from './consumer-lag.ts';
import { acquireLease } from './consumer-lease.ts';
import { EmbeddedBus } from './embedded-bus.ts';
import { headCursor, type LoggedEvent } from './event-log.ts';
import { handleOnce } from './handle-once.ts';
import { requestRetry } from './parked-events.ts';
import {
  beginTransaction,
  labelOf,
  openTestEvents,
  emitLabelled,
  waitUntil,
  type TestEvents,
} from './testing.ts';

let events: TestEvents;
const buses: EmbeddedBus[] = [];
beforeEach(async () => {
  events = await openTestEvents();
});
afterEach(async () => {
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
  await events.close();
});

function openBus(parkAfter?: () => number): EmbeddedBus {
  const bus = new EmbeddedBus(events.db, events.listener, events.log, parkAfter);
  buses.push(bus);
  return bus;
}

function collector(startFrom: 'beginning' | 'now' = 'beginning') {
  const seen: string[] = [];
  return {
    seen,
    consumer: {
      name: 'collector',
      startFrom,
      handle: (event: LoggedEvent) => Promise.resolve(void seen.push(labelOf(event))),
    },
  };
}

const say = (label: string, subject = newId()) =>
  events.db.transaction().execute((tx) => emitLabelled(tx, subject, label));

describe('a durable consumer', () => {
  test('gets every event of interleaved transactions, and continues where it stopped', async () => {
    const { seen, consumer } = collector();
    const first = await openBus().consume(consumer);
    const early = await beginTransaction(events.db);
    await emitLabelled(early.tx, newId(), 'a');
    await say('b');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen).toEqual([]);
    await early.commit();
    await waitUntil(() => seen.length === 2);
    expect(seen).toEqual(['a', 'b']);
    await first.stop();
    await say('c');
    await openBus().consume(consumer);
    await waitUntil(() => seen.length === 3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('is woken by the commit, not by a timer', async () => {
    const { seen, consumer } = collector('now');
    await say('before');
    await waitUntil(async () => (await headCursor(events.db)).xid !== '0');
    await openBus().consume(consumer);
    const latencies: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const started = performance.now();
      await say('after');
      await waitUntil(() => seen.length === round + 1);
      latencies.push(performance.now() - started);
    }
    // The timer runs one second and restarts with each event.
    expect(Math.min(...latencies)).toBeLessThan(600);
    expect(new Set(seen)).toEqual(new Set(['after']));
  });

  test('is held at an event that fails, retries and then continues in order', async () => {
    const seen: string[] = [];
    let failures = 0;
    await openBus().consume({
      name: 'stumbling',
      startFrom: 'beginning',
      handle: (event) => {
        if (labelOf(event) === 'b' && failures < 2) {
          failures += 1;
          return Promise.reject(new Error(`no luck ${failures}`));
        }
        return Promise.resolve(void seen.push(labelOf(event)));
      },
    });
    for (const label of ['a', 'b', 'c']) await say(label);
    await waitUntil(async () => (await listConsumerLag(events.db))[0]!.failures === 1);
    expect((await listConsumerLag(events.db))[0]).toMatchObject({
      name: 'stumbling',
      lastError: 'no luck 1',
    });
    await waitUntil(() => seen.length === 3);
    expect(seen).toEqual(['a', 'b', 'c']);
    await waitUntil(async () => (await listConsumerLag(events.db))[0]!.eventsBehind === 0);
    expect((await listConsumerLag(events.db))[0]).toMatchObject({
      failures: 0,
      lastError: null,
      secondsBehind: 0,
    });
  });

  test("parks an event that keeps failing, continues in order, and retries it at an operator's request", async () => {
    const seen: string[] = [];
    let broken = true;
    await openBus(() => 3).consume({
      name: 'parking',
      startFrom: 'beginning',
      handle: (event) => {
        if (labelOf(event) === 'poison' && broken) return Promise.reject(new Error('cannot read it'));
        return Promise.resolve(void seen.push(labelOf(event)));
      },
    });
    for (const label of ['a', 'poison', 'b', 'c']) await say(label);
    await waitUntil(() => seen.length === 3, 60_000);
    expect(seen).toEqual(['a', 'b', 'c']);
    const parked = () => events.db.selectFrom('parked_events').selectAll().executeTakeFirstOrThrow();
    const { id } = await parked();
    expect(await parked()).toMatchObject({
      consumer: 'parking',
      state: 'parked',
      failures: 3,
      last_error: 'cannot read it',
      event_type: 'node.enrolled',
    });
    await waitUntil(async () => (await listConsumerLag(events.db))[0]!.eventsBehind === 0, 60_000);
    await assertConsumersKeepUp(events.db, 0);

    const retry = () => events.db.transaction().execute((tx) => requestRetry(tx, id));
    await retry();
    await waitUntil(async () => (await parked()).failures === 4, 60_000);
    expect((await parked()).state).toBe('parked');
    broken = false;
    await retry();
    await waitUntil(async () => (await parked()).state === 'handled', 60_000);
    expect(seen).toEqual(['a', 'b', 'c', 'poison']);
  });

  test('runs in one of many processes, and the next one takes over when it stops', async () => {
    const { seen, consumer } = collector();
    const handled: number[] = [];
    const competitors = await Promise.all(
      [0, 1, 2].map((index) =>
        openBus().consume({
          ...consumer,
          handle: (event) => {
            handled.push(index);
            return consumer.handle(event);
          },
        }),
      ),
    );
    for (let i = 0; i < 20; i += 1) await say(String(i));
    await waitUntil(() => seen.length === 20);
    const leader = handled[0]!;
    expect(new Set(handled)).toEqual(new Set([leader]));
    await competitors[leader]!.stop();
    await say('after the change');
    await waitUntil(() => seen.length === 21);
    expect(handled.at(-1)).not.toBe(leader);
  });

  test('does not move the cursor of a lease it has lost', async () => {
    const seen: string[] = [];
    const entered = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    await openBus().consume({
      name: 'stalled',
      startFrom: 'beginning',
      handle: async (event) => {
        seen.push(labelOf(event));
        entered.resolve();
        await go.promise;
      },
    });
    await say('a');
    await entered.promise;
    // As if this process had slept longer than its lease and another one had taken over.
    await events.db
      .updateTable('event_consumers')
      .set({ lease_expires_at: new Date(0) })
      .execute();
    expect(await acquireLease(events.db, 'stalled', 'another process')).not.toBeNull();
    go.resolve();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await listConsumerLag(events.db)).toMatchObject([{ runner: 'another process', eventsBehind: 1 }]);
  });

  test('shows its lag, and readiness names it', async () => {
    const { consumer } = collector();
    const consumption = await openBus().consume(consumer);
    await consumption.stop();
    await say('a');
    await say('b');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await listConsumerLag(events.db)).toMatchObject([
      { name: 'collector', runner: null, eventsBehind: 2 },
    ]);
    await assertConsumersKeepUp(events.db, 60);
    await expect(assertConsumersKeepUp(events.db, 0)).rejects.toThrow('collector is 0 s and 2 events behind');
  });

  test('gets only the types it subscribed to', async () => {
    const { seen, consumer } = collector();
    await openBus().consume({ ...consumer, types: ['node.slots_changed'] });
    await say('not asked for');
    await waitUntil(async () => (await listConsumerLag(events.db))[0]!.eventsBehind === 0);
    expect(seen).toEqual([]);
  });
});

test('an effect happens once for a repeated event, and not at all when it fails', async () => {
  let effects = 0;
  const eventId = newId();
  const once = (fail: boolean) =>
    events.db.transaction().execute((tx) =>
      handleOnce(tx, 'effects', eventId, async () => {
        if (fail) throw new Error('failed');
        effects += 1;
        await Promise.resolve();
      }),
    );
  await expect(once(true)).rejects.toThrow('failed');
  expect(await Promise.all([once(false), once(false), once(false)])).toSatisfy(
    (ran: boolean[]) => ran.filter(Boolean).length === 1,
  );
  expect(effects).toBe(1);
});
