import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { AppClient } from '../../harness/apps/app-client.ts';
import { launchMachine, startWebApp } from '../../harness/apps/web-app.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const SOCKETS = 800;
const AT_ONCE = 50;

let platform: TestPlatform;
let client: AppClient;
let key: { authorization: string };

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { label } = await startWebApp(platform, await launchMachine(platform), { slug: 'chat', port: 8000 });
  client = new AppClient(platform.appsPort, label);
  key = { authorization: `Bearer ${platform.keys.member}` };
});
afterAll(() => platform?.stop());

async function open(): Promise<WebSocket> {
  const socket = client.webSocket('/ws', key);
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return socket;
}

async function echoes(socket: WebSocket, text: string): Promise<boolean> {
  const answer = once(socket, 'message');
  socket.send(text);
  const [data] = (await answer) as [Buffer];
  return data.toString() === text;
}

async function guestConnections(): Promise<number> {
  return Number((await client.call('/connections', { headers: key })).text);
}

it('carries 800 WebSockets into one machine beside requests, and keeps nothing of them', async () => {
  const before = process.memoryUsage().heapUsed;
  const sockets: WebSocket[] = [];
  for (let opened = 0; opened < SOCKETS; opened += AT_ONCE)
    sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => open()))));
  const echoed = await Promise.all(sockets.map((socket, index) => echoes(socket, `hello ${index}`)));
  expect(echoed.filter(Boolean)).toHaveLength(SOCKETS);
  expect((await client.call('/', { headers: key })).status).toBe(200);
  expect(await guestConnections()).toBeGreaterThanOrEqual(SOCKETS);
  for (const socket of sockets) socket.terminate();
  await expect.poll(guestConnections, { timeout: 120_000, interval: 500 }).toBeLessThanOrEqual(3);
  expect((process.memoryUsage().heapUsed - before) / 1_000_000).toBeLessThan(300);
  // The machine takes as many again.
  const again = await Promise.all(Array.from({ length: AT_ONCE }, () => open()));
  for (const socket of again) socket.terminate();
}, 300_000);
