import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { TerminalSession, type TerminalEnd, type TerminalLimits } from './terminal-session.ts';

const LONG_MS = 600_000;
const metered = { fromGuest: () => undefined, toGuest: () => undefined, close: () => undefined };

let server: WebSocketServer;
let browser: WebSocket;
let channel: PassThrough;

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
});
afterEach(() => {
  browser.terminate();
  server.close();
});

/** A session over a real socket; the shell is a pipe. */
async function open(
  limits: TerminalLimits,
  whyClosed: () => Promise<string | null> = async () => null,
): Promise<{ session: TerminalSession; ended: Promise<TerminalEnd> }> {
  const { port } = server.address() as { port: number };
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  browser = new WebSocket(`ws://127.0.0.1:${port}`);
  channel = new PassThrough();
  const shell = {
    channel: Object.assign(channel, {
      stderr: new PassThrough(),
      setWindow: () => undefined,
      close: () => true,
    }),
    end: () => undefined,
  };
  await once(browser, 'open');
  const ws = await accepted;
  const { promise: ended, resolve } = Promise.withResolvers<TerminalEnd>();
  const session = new TerminalSession(
    {
      ws,
      shell: { ...shell, channel: shell.channel as unknown as ClientChannel },
      recorder: null,
      metered,
      whyClosed,
    },
    limits,
    resolve,
  );
  return { session, ended };
}

it.each([
  [
    'that its machine went',
    async () => 'The allocation is being released.',
    'The allocation is being released.',
  ],
  ['that the shell ended in a machine that stays', async () => null, 'The shell has ended.'],
  ['as much as is known', () => Promise.reject(new Error('no database')), 'The shell has ended.'],
])('says %s', async (_what, whyClosed, reason) => {
  const { ended } = await open({ idleMs: LONG_MS, lastsMs: LONG_MS, reattachMs: 0 }, whyClosed);
  channel.destroy();
  expect((await ended).reason).toBe(reason);
});

it('ends when nothing happens for too long', async () => {
  const { ended } = await open({ idleMs: 50, lastsMs: LONG_MS, reattachMs: 0 });
  const end = await ended;
  expect(end.reason).toBe('Nothing happened for too long.');
});

it('ends after its longest time, however busy it is', async () => {
  const { ended } = await open({ idleMs: LONG_MS, lastsMs: 200, reattachMs: 0 });
  const busy = setInterval(() => channel.write('x'), 20);
  const end = await ended;
  clearInterval(busy);
  expect(end.reason).toBe('A terminal lasts no longer; open another one.');
  expect(end.bytesOut).toBeGreaterThan(0);
});

it('waits for a client whose connection was lost, and loses no output', async () => {
  const { session, ended } = await open({ idleMs: LONG_MS, lastsMs: LONG_MS, reattachMs: LONG_MS });
  browser.terminate();
  await expect.poll(() => channel.isPaused()).toBe(true);
  channel.write('while away');
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const { port } = server.address() as { port: number };
  browser = new WebSocket(`ws://127.0.0.1:${port}`);
  const seen: string[] = [];
  browser.on('message', (data: Buffer) => seen.push(data.toString()));
  await once(browser, 'open');
  session.attach(await accepted, { cols: 80, rows: 24 });
  await expect.poll(() => seen.join('')).toContain('while away');
  expect(JSON.parse(seen[0]!)).toMatchObject({ type: 'ready', resumed: true, resume: session.id });
  browser.close(1000);
  expect((await ended).reason).toBe('The browser left.');
});

it('ends the shell of a client that does not come back', async () => {
  const { ended } = await open({ idleMs: LONG_MS, lastsMs: LONG_MS, reattachMs: 50 });
  browser.terminate();
  expect((await ended).reason).toBe('The browser left.');
});
