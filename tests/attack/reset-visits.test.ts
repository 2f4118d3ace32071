import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintStreamToken, openStream } from '../harness/access/guest-stream.ts';
import { mintTerminalToken, TestTerminal } from '../harness/access/terminal.ts';
import { launch, waitForState, type Allocation } from '../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';

/** Connections into a machine whose token is good, reset at every stage after the upgrade was accepted. */
const ROUNDS = 2;
const ANSWER_MS = 30_000;

let platform: TestPlatform;
let allocation: Allocation;
/** Errors of a socket that nobody handled: in production they would reach the last net of the process. */
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { id } = await launch(platform.member, platform.projectId, 1);
  allocation = await waitForState(platform.member, id, 'active');
  process.on('uncaughtExceptionMonitor', note);
});
afterAll(async () => {
  process.off('uncaughtExceptionMonitor', note);
  await platform?.stop();
});

/** A frame as clients send it: masked. With `missing`, its head promises so many bytes more than follow. */
function frame(kind: 'text' | 'binary', payload: Buffer, missing = 0): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length + missing);
  const mask = randomBytes(4);
  const masked = payload.map((byte, index) => byte ^ mask[index % 4]!);
  return Buffer.concat([Buffer.from([kind === 'text' ? 0x81 : 0x82, 0xfe]), length, mask, masked]);
}

/** A raw connection that keeps what it hears. */
class Visit {
  readonly socket: Socket;
  #heard = '';

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    this.socket.on('error', () => this.socket.destroy());
    this.socket.on('data', (chunk: Buffer) => (this.#heard += chunk.toString('latin1')));
  }

  async upgrade(path: string, ...headers: string[]): Promise<void> {
    await once(this.socket, 'connect');
    const key = randomBytes(16).toString('base64');
    const { host } = new URL(platform.baseUrl);
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: ${host}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${key}`,
      ...headers,
    ];
    this.socket.write([...lines, '', ''].join('\r\n'));
    await this.hears('101 Switching Protocols');
  }

  async hears(text: string): Promise<void> {
    await expect.poll(() => this.#heard, { timeout: ANSWER_MS }).toContain(text);
  }
}

const HALF = () => frame('binary', randomBytes(100), 5000);
const port = () => Number(new URL(platform.baseUrl).port);

async function terminal(): Promise<{ visit: Visit; auth: Buffer }> {
  const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
  const visit = new Visit(port());
  await visit.upgrade(websocket_path, `Origin: ${platform.baseUrl}`);
  const auth = frame('text', Buffer.from(JSON.stringify({ type: 'auth', token, cols: 80, rows: 24 })));
  return { visit, auth };
}

async function stream(): Promise<Visit> {
  const { token, path } = await mintStreamToken(platform.member, allocation.id, 22);
  const visit = new Visit(port());
  await visit.upgrade(path, `Authorization: Bearer ${token}`);
  return visit;
}

const stages: Record<string, () => Promise<Visit>> = {
  'a terminal in the middle of its token': async () => {
    const { visit, auth } = await terminal();
    visit.socket.write(auth.subarray(0, auth.length / 2));
    return visit;
  },
  'a terminal that is being opened': async () => {
    const { visit, auth } = await terminal();
    visit.socket.write(auth);
    return visit;
  },
  'an open terminal in the middle of a frame': async () => {
    const { visit, auth } = await terminal();
    visit.socket.write(auth);
    await visit.hears('"ready"');
    visit.socket.write(HALF());
    return visit;
  },
  'an open terminal that speaks': async () => {
    const { visit, auth } = await terminal();
    visit.socket.write(auth);
    await visit.hears('"ready"');
    visit.socket.write(frame('binary', Buffer.from('yes\n')));
    return visit;
  },
  'a stream whose upgrade was accepted': stream,
  'a stream in the middle of a frame': async () => {
    const visit = await stream();
    await visit.hears('SSH-2.0-');
    visit.socket.write(HALF());
    return visit;
  },
  'a stream after a frame that is none': async () => {
    const visit = await stream();
    visit.socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    return visit;
  },
};

const manners: Record<string, (socket: Socket) => Promise<void>> = {
  reset: async (socket) => void socket.resetAndDestroy(),
  'reset a moment later': async (socket) => {
    await pause(20);
    socket.resetAndDestroy();
  },
  'half closed, then reset': async (socket) => {
    socket.end();
    await pause(5);
    socket.resetAndDestroy();
  },
};

async function openVisits(kind: string): Promise<string> {
  const metrics = await (await fetch(`${platform.baseUrl}/metrics`)).text();
  return new RegExp(`gpuaas_streams_open\\{kind="${kind}"\\} (\\d+)`).exec(metrics)?.[1] ?? '0';
}

describe.each(Object.keys(stages))('%s', (stage) => {
  it('is reset without an effect on anybody else', { timeout: 180_000 }, async () => {
    for (const manner of Object.values(manners)) {
      await Promise.all(
        Array.from({ length: ROUNDS }, async () => {
          const { socket } = await stages[stage]!();
          await manner(socket);
        }),
      );
    }
    for (const kind of ['terminal', 'port']) {
      await expect.poll(() => openVisits(kind), { timeout: ANSWER_MS }).toBe('0');
    }
    expect(unhandled).toEqual([]);
  });
});

it('the next visitors get in', { timeout: 60_000 }, async () => {
  const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
  const next = new TestTerminal(platform.baseUrl, websocket_path, token);
  await next.ready;
  next.close();
  const { token: streamToken } = await mintStreamToken(platform.member, allocation.id, 22);
  const { ws, bytes } = await openStream(platform.baseUrl, streamToken);
  expect(String((await once(bytes, 'data'))[0])).toContain('SSH-2.0-');
  ws.close();
});
