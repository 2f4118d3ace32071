import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { AppClient } from '../harness/apps/app-client.ts';
import { launchMachine, startWebApp } from '../harness/apps/web-app.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';

let platform: TestPlatform;
let client: AppClient;
let headers: { authorization: string };

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { label } = await startWebApp(platform, await launchMachine(platform), {
    slug: 'abused',
    port: 8000,
  });
  client = new AppClient(platform.appsPort, label);
  headers = { authorization: `Bearer ${platform.keys.member}` };
});
afterAll(() => platform?.stop());

const openStreams = async (): Promise<number> => {
  const metrics = await (await fetch(`${platform.baseUrl}/metrics`)).text();
  return Number(/gpuaas_streams_open\{kind="app"\} (\d+)/.exec(metrics)?.[1] ?? 0);
};

it('carries 800 WebSockets, and frees them', async () => {
  const sockets: WebSocket[] = [];
  for (let batch = 0; batch < 16; batch += 1) {
    const opening = Array.from({ length: 50 }, () => client.webSocket('/ws', headers));
    await Promise.all(
      opening.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            socket.on('open', resolve);
            socket.on('error', reject);
          }),
      ),
    );
    sockets.push(...opening);
  }
  const echoed = sockets.map((socket) => once(socket, 'message'));
  for (const socket of sockets) socket.send('x');
  await Promise.all(echoed);
  expect(await openStreams()).toBeGreaterThanOrEqual(800);
  for (const socket of sockets) socket.terminate();
  await expect.poll(openStreams, { timeout: 60_000 }).toBeLessThan(20);
  expect((await client.call('/', { headers })).status).toBe(200);
});

it('ends the guest’s work when downloads are aborted', async () => {
  for (let round = 0; round < 30; round += 1) {
    const sent = request({
      host: '127.0.0.1',
      port: client.port,
      path: '/big?bytes=50000000',
      headers: { host: client.host, ...headers },
      agent: false,
    });
    sent.on('error', () => undefined);
    sent.end();
    const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    answer.on('error', () => undefined);
    await once(answer, 'data');
    sent.destroy();
  }
  await expect.poll(openStreams, { timeout: 60_000 }).toBeLessThan(20);
  expect((await client.call('/', { headers })).status).toBe(200);
});

it('serves others while clients neither send nor read', async () => {
  const idle = Array.from({ length: 50 }, (_, index) => {
    const socket = connect(client.port, '127.0.0.1', () =>
      socket.write(
        index % 2 === 0
          ? `GET /x HTTP/1.1\r\nHost: ${client.host}\r\nX-Slow: `
          : `GET /big?bytes=50000000 HTTP/1.1\r\nHost: ${client.host}\r\nAuthorization: ${headers.authorization}\r\n\r\n`,
      ),
    );
    socket.on('error', () => undefined);
    socket.pause();
    return socket;
  });
  for (let round = 0; round < 20; round += 1) expect((await client.call('/', { headers })).status).toBe(200);
  // Those that never sent their headers are cut.
  await Promise.all(
    idle.filter((_, index) => index % 2 === 0).map((socket) => once(socket.resume(), 'close')),
  );
  for (const socket of idle) socket.destroy();
});
