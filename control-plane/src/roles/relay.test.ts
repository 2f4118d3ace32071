import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';
import { listConsumerLag } from '../platform/events/consumer-lag.ts';
import { STREAM } from '../platform/events/nats-stream.ts';
import { natsServerInstalled, startNatsServer } from '../platform/events/nats-testing.ts';
import { openTestEvents, emitLabelled, waitUntil } from '../platform/events/testing.ts';
import { newId } from '../platform/ids.ts';

const RELAY = fileURLToPath(new URL('relay.ts', import.meta.url));
const reason = natsServerInstalled ? '' : ' (needs nats-server: apt-get install nats-server)';
const stops: (() => Promise<unknown>)[] = [];

describe.skipIf(!natsServerInstalled)(`the relay role${reason}`, () => {
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  });

  test('a second process takes over when the elected one is killed, and the stream has each event once', async () => {
    const events = await openTestEvents();
    stops.push(() => events.close());
    const nats = await startNatsServer();
    stops.push(() => nats.stop());
    const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-relay-'));
    stops.push(() => rm(dataDir, { recursive: true, force: true }));
    const start = (): ChildProcess => {
      const env = {
        DATABASE_URL: events.database.url,
        NATS_URL: nats.url,
        GPUAAS_DATA_DIR: dataDir,
        GPUAAS_LOG_LEVEL: 'error',
      };
      const child = spawn(process.execPath, [RELAY], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      stops.push(() => kill(child));
      return child;
    };
    const leader = start();
    await waitUntil(() => runner(leader));
    const follower = start();
    let emitted = 0;
    const say = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), String(emitted)));
        emitted += 1;
      }
    };
    await say(300);
    await waitUntil(async () => (await published(nats.url)).length > 0);
    await say(50);
    await kill(leader);
    await say(50);
    await waitUntil(async () => (await published(nats.url)).length >= 400, 30_000);
    expect(await published(nats.url)).toEqual(Array.from({ length: 400 }, (_, i) => String(i)));
    expect(await runner(follower)).toBe(true);

    async function runner(child: ChildProcess): Promise<boolean> {
      const [relay] = await listConsumerLag(events.db);
      return relay?.runner?.includes(`-${child.pid}-`) ?? false;
    }
  });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function published(url: string): Promise<string[]> {
  const connection = await connect({ servers: url });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(STREAM);
    const labels: string[] = [];
    for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(STREAM, { seq });
      labels.push(message!.json<{ payload: { hostname: string } }>().payload.hostname);
    }
    return labels;
  } finally {
    await connection.close();
  }
}
