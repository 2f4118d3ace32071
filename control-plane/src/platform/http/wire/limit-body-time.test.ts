import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { limitBodyTime } from './limit-body-time.ts';

let server: Server;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Sends a request whose body never ends; answers whether the connection is still open after a while. */
async function staysOpen(path: string): Promise<boolean> {
  server = createServer(limitBodyTime((request) => void request.resume(), 100));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const ended = once(socket, 'close').then(() => false);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345`);
  const open = await Promise.race([ended, sleep(1500, true)]);
  socket.destroy();
  return open;
}

describe('a body that does not arrive', () => {
  it('ends its connection', async () => {
    expect(await staysOpen('/api/v1/anything')).toBe(false);
  });

  it('of the registry is left to the registry', async () => {
    expect(await staysOpen('/v2/a/b/blobs/uploads/c')).toBe(true);
  });
});
