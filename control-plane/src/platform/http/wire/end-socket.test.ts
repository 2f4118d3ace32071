import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../problem.ts';
import { refuseUpgrade } from '../refuse-upgrade.ts';
import { endSocket } from './end-socket.ts';

let server: Server;
let port: number;

beforeEach(async () => {
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => server.close());

const open = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

async function upgrade(afterwards: string): Promise<Socket> {
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  client.write(
    'GET /api/v1/terminal HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  await once(client, 'data');
  client.write(afterwards);
  return client;
}

describe('a refused upgrade', () => {
  it('keeps no connection of clients that send more and hang up', async () => {
    server.on('upgrade', (_, socket) =>
      refuseUpgrade(socket, new Problem('forbidden', 'Not from here.'), 'http://x'),
    );
    const clients = await Promise.all(Array.from({ length: 50 }, () => upgrade('x'.repeat(100))));
    for (const client of clients) client.end();
    await expect.poll(open).toBe(0);
  });

  it('disconnects a client that stays', async () => {
    server.on('upgrade', (_, socket) => endSocket(socket, 'HTTP/1.1 403 Forbidden\r\n\r\n', 50));
    const client = await upgrade('');
    client.on('error', () => client.destroy());
    await expect.poll(open).toBe(0);
    client.destroy();
  });
});
