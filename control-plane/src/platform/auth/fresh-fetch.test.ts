import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { freshFetch } from './fresh-fetch.ts';

it('uses no connection a second time', async () => {
  const used = new Set<Socket>();
  const server = createServer((request, response) => {
    if (used.has(request.socket)) request.socket.destroy();
    used.add(request.socket);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // A kept connection of another client to the same place is not used either.
  await (await fetch(url)).text();
  for (let round = 0; round < 5; round += 1) {
    const answer = await freshFetch(url, {});
    expect(await answer.text()).toBe('{}');
  }
  expect(used.size).toBe(6);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
