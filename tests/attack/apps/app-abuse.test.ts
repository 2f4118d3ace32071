import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppClient } from '../../harness/apps/app-client.ts';
import { launchMachine, startWebApp } from '../../harness/apps/web-app.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const LONG = 60_000;
/** A connection in use and those of a test that goes on beside it. */
const FEW = 3;

let platform: TestPlatform;
let client: AppClient;
let key: { authorization: string };
/** Errors of a socket that nobody handled: in production they would reach the last net of the process. */
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { label } = await startWebApp(platform, await launchMachine(platform), {
    slug: 'abused',
    port: 8000,
  });
  client = new AppClient(platform.appsPort, label);
  key = { authorization: `Bearer ${platform.keys.member}` };
  process.on('uncaughtExceptionMonitor', note);
});
afterAll(async () => {
  process.off('uncaughtExceptionMonitor', note);
  await platform?.stop();
});

/** A raw connection that keeps what it hears. */
class RawClient {
  readonly socket: Socket;
  heard = '';

  constructor(lines: readonly string[], { reads } = { reads: true }) {
    this.socket = connect(platform.appsPort, '127.0.0.1');
    this.socket.on('error', () => this.socket.destroy());
    // Without a listener the socket reads nothing, and its buffers fill.
    if (reads) this.socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString('latin1')));
    this.socket.write(lines.join('\r\n'));
  }

  async hears(): Promise<void> {
    await once(this.socket, 'data');
  }
}

const head = (start: string, ...more: string[]): string[] => [
  start,
  `Host: ${client.host}`,
  `Authorization: ${key.authorization}`,
  ...more,
];

async function ok(): Promise<void> {
  expect((await client.call('/', { headers: key })).status).toBe(200);
}

/** Connections at the guest: each is a stream of the tunnel. Node's server ends idle ones after five seconds. */
async function guestConnections(): Promise<number> {
  return Number((await client.call('/connections', { headers: key })).text);
}

async function leavesNothing(): Promise<void> {
  await expect.poll(guestConnections, { timeout: LONG, interval: 500 }).toBeLessThanOrEqual(FEW);
  expect(unhandled).toEqual([]);
}

describe('the gateway of apps', () => {
  it('cuts clients that do not finish their headers, with 408', async () => {
    const slow = Array.from({ length: 20 }, () => new RawClient(head('GET / HTTP/1.1', 'X-Slow: a')));
    const closed = Promise.all(slow.map(({ socket }) => once(socket, 'close')));
    await ok();
    await closed;
    expect(new Set(slow.map(({ heard }) => heard.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 408']));
  }, 120_000);

  it('refuses too large and too many headers with 431', async () => {
    for (const more of [`X-Large: ${'a'.repeat(100_000)}`, 'X-Many: 1\r\n'.repeat(3000)]) {
      const { socket, heard } = await refused(head('GET / HTTP/1.1', more, '', ''));
      expect(heard.slice(0, 12)).toBe('HTTP/1.1 431');
      socket.destroy();
    }
    await ok();
  });

  it('serves others while bodies arrive slowly, and forgets clients that leave in the middle', async () => {
    const slow = Array.from(
      { length: 40 },
      () => new RawClient(head('POST / HTTP/1.1', 'Content-Length: 1000', '', 'a')),
    );
    await expect.poll(guestConnections, { timeout: LONG }).toBeGreaterThanOrEqual(40);
    for (const { socket } of slow) socket.write('b');
    await ok();
    for (const { socket } of slow) socket.destroy();
    await leavesNothing();
  }, 120_000);

  it('serves others while nobody reads 20 downloads, and keeps little of each', async () => {
    const before = process.memoryUsage();
    const readers = Array.from(
      { length: 20 },
      () => new RawClient(head('GET /big?bytes=100000000 HTTP/1.1', '', ''), { reads: false }),
    );
    await expect.poll(guestConnections, { timeout: LONG }).toBeGreaterThanOrEqual(20);
    await ok();
    // Two gigabytes wait at the guest. Windows and buffers of a stream are a few megabytes, at either end.
    expect((process.memoryUsage().rss - before.rss) / 1_000_000).toBeLessThan(400);
    for (const { socket } of readers) socket.destroy();
    await leavesNothing();
  }, 120_000);

  it('ends the work of the app for downloads that are broken off', async () => {
    for (let round = 0; round < 2; round += 1) {
      const readers = Array.from(
        { length: 10 },
        () => new RawClient(head('GET /big?bytes=20000000 HTTP/1.1', '', '')),
      );
      await Promise.all(readers.map((reader) => reader.hears()));
      for (const { socket } of readers) {
        if (round === 0) socket.resetAndDestroy();
        else socket.destroy();
      }
    }
    await leavesNothing();
  }, 120_000);

  it('outlives WebSockets that break off at every stage', async () => {
    const upgrade = head(
      'GET /ws HTTP/1.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    );
    const early = Array.from({ length: 20 }, () => new RawClient([...upgrade, '', '']));
    await Promise.all(early.map(({ socket }) => once(socket, 'connect')));
    for (const { socket } of early) socket.resetAndDestroy();
    const late = Array.from({ length: 20 }, () => new RawClient([...upgrade, '', 'no frame of a WebSocket']));
    await Promise.all(late.map((one) => one.hears()));
    for (const { socket, heard } of late) {
      expect(heard.slice(0, 12)).toBe('HTTP/1.1 101');
      socket.resetAndDestroy();
    }
    await leavesNothing();
  }, 120_000);

  it('leaks nothing for answers that are garbage or break off', async () => {
    for (let round = 0; round < 3; round += 1) {
      const paths = ['/garbage', '/huge-header', '/two-lengths', '/unasked-upgrade', '/hang-up'];
      const answers = await Promise.all(paths.map((path) => client.call(path, { headers: key })));
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 502));
      const cuts = ['/cut', '/cut-chunks'].map((path) => client.call(path, { headers: key }));
      for (const cut of await Promise.allSettled(cuts)) expect(cut.status).toBe('rejected');
    }
    await leavesNothing();
  }, 120_000);
});

async function refused(lines: readonly string[]): Promise<RawClient> {
  const sender = new RawClient(lines);
  await once(sender.socket, 'close');
  return sender;
}
