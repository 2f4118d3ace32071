import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import type { Consumption } from './consumer.ts';
import { listConsumerLag } from './consumer-lag.ts';
import { EmbeddedBus } from './embedded-bus.ts';
import type { LoggedEvent } from './event-log.ts';
import { NatsBus } from './nats-bus.ts';
import { RELAY, startRelay } from './nats-relay.ts';
import { STREAM } from './nats-stream.ts';
import { natsServerInstalled, startNatsServer, type NatsServer } from './nats-testing.ts';
import {
  beginTransaction,
  labelOf,
  openTestEvents,
  emitLabelled,
  waitUntil,
  type TestEvents,
} from './testing.ts';

const reason = natsServerInstalled ? '' : ' (needs nats-server: apt-get install nats-server)';

describe.skipIf(!natsServerInstalled)(`events through NATS JetStream${reason}`, () => {
  let events: TestEvents;
  let nats: NatsServer;
  const running: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    events = await openTestEvents();
    nats = await startNatsServer();
  });
  afterEach(async () => {
    for (const part of running.splice(0).toReversed()) await part.close();
    await events.close();
    await nats.stop();
  });

  async function relay(): Promise<Consumption> {
    const started = await startRelay({ ...events, natsUrl: nats.url });
    running.push({ close: () => started.stop() });
    return started;
  }

  function bus(): NatsBus {
    const opened = new NatsBus(events.db, events.log, nats.url);
    running.push(opened);
    return opened;
  }

  const collect = (seen: string[]) => ({
    name: 'collector',
    startFrom: 'beginning' as const,
    handle: (event: LoggedEvent) => Promise.resolve(void seen.push(labelOf(event))),
  });

  const say = (label: string, subject = newId()) =>
    events.db.transaction().execute((tx) => emitLabelled(tx, subject, label));

  async function published(): Promise<{ subject: string; id: string; label: string }[]> {
    const connection = await connect({ servers: nats.url });
    try {
      const manager = await jetstreamManager(connection);
      const { state } = await manager.streams.info(STREAM);
      const messages = [];
      for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
        const message = (await manager.streams.getMessage(STREAM, { seq }))!;
        const body = message.json<{ event_id: string; payload: { hostname: string } }>();
        expect(message.header.get('Nats-Msg-Id')).toBe(body.event_id);
        messages.push({ subject: message.subject, id: body.event_id, label: body.payload.hostname });
      }
      return messages;
    } finally {
      await connection.close();
    }
  }

  test('each event is published once under its type, in order, and reaches the consumer', async () => {
    await relay();
    const seen: string[] = [];
    await bus().consume(collect(seen));
    const early = await beginTransaction(events.db);
    const subject = newId();
    await emitLabelled(early.tx, subject, '0');
    for (let i = 1; i < 50; i += 1) await say(String(i));
    await early.commit();
    await waitUntil(() => seen.length === 50);
    expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
    const messages = await published();
    expect(messages.map((message) => message.label)).toEqual(seen);
    expect(new Set(messages.map((message) => message.subject))).toEqual(new Set(['node.enrolled']));
    expect(new Set(messages.map((message) => message.id)).size).toBe(50);
  });

  test('a killed NATS server that comes back causes a delay and loses no event', async () => {
    await relay();
    const seen: string[] = [];
    await bus().consume(collect(seen));
    await say('a');
    await waitUntil(() => seen.length === 1);
    await nats.kill();
    await say('b');
    await say('c');
    await nats.start();
    await say('d');
    await waitUntil(() => seen.length === 4, 25_000);
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    await waitUntil(async () => (await published()).length === 4, 20_000);
  });

  test('a NATS server that lost its data loses no event', async () => {
    await relay();
    const seen: string[] = [];
    await bus().consume(collect(seen));
    await say('a');
    await waitUntil(() => seen.length === 1);
    await nats.kill();
    await nats.wipe();
    await say('b');
    await nats.start();
    await say('c');
    await waitUntil(() => seen.length === 3, 25_000);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('two relays publish each event once, also when the leader changes in the middle', async () => {
    const first = await relay();
    await relay();
    for (let i = 0; i < 100; i += 1) await say(String(i));
    await waitUntil(async () => (await published()).length > 0);
    await first.stop();
    for (let i = 100; i < 200; i += 1) await say(String(i));
    await waitUntil(async () => (await published()).length >= 200);
    expect((await published()).map((message) => message.label)).toEqual(
      Array.from({ length: 200 }, (_, i) => String(i)),
    );
    expect(await listConsumerLag(events.db)).toMatchObject([{ name: RELAY }]);
  });

  test('a cursor that went back (a restored database row) publishes nothing twice', async () => {
    const first = await relay();
    for (const label of ['a', 'b', 'c']) await say(label);
    await waitUntil(async () => (await published()).length === 3);
    await first.stop();
    await events.db.updateTable('event_consumers').set({ cursor_xid: '0', cursor_position: 0n }).execute();
    await relay();
    await say('d');
    await waitUntil(async () => (await published()).length >= 4);
    expect((await published()).map((message) => message.label)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a consumer may move between the embedded bus and NATS and back without a gap', async () => {
    const seen: string[] = [];
    const embedded = new EmbeddedBus(events.db, events.listener, events.log);
    await embedded.consume(collect(seen));
    await say('a');
    await waitUntil(() => seen.length === 1);
    await embedded.close();
    // Emitted before there was a relay: the stream never has it.
    await say('b');
    await relay();
    const first = bus();
    await first.consume(collect(seen));
    await say('c');
    await waitUntil(() => seen.length === 3);
    await first.close();
    await say('d');
    const again = new EmbeddedBus(events.db, events.listener, events.log);
    running.push(again);
    await again.consume(collect(seen));
    await waitUntil(() => seen.length === 4);
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
  });
});
