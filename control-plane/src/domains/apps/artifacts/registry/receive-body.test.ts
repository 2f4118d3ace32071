import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OciError } from './oci-error.ts';
import { receiveAll, receiveBody } from './receive-body.ts';

let server: Server;
afterEach(() => server?.close());

/** What a reader makes of a request whose body the test writes. */
async function receive(
  read: (message: IncomingMessage) => Promise<unknown>,
  write: (sent: ReturnType<typeof request>) => void,
): Promise<unknown> {
  const received = Promise.withResolvers<unknown>();
  server = createServer((message, response) => {
    read(message)
      .then(received.resolve, received.resolve)
      .finally(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, method: 'PUT', headers: { 'content-length': '10' } });
  sent.on('error', () => undefined);
  write(sent);
  return await received.promise;
}

const drain = (idleMs?: number) => async (message: IncomingMessage) => {
  let bytes = 0;
  for await (const chunk of receiveBody(message, idleMs)) bytes += chunk.length;
  return bytes;
};

describe('a body', () => {
  it('arrives as it was sent', async () => {
    expect(await receive(drain(), (sent) => sent.end('0123456789'))).toBe(10);
  });

  it('that delivers nothing any more is refused', async () => {
    const outcome = await receive(drain(200), (sent) => sent.write('01234'));
    expect(outcome).toBeInstanceOf(OciError);
    expect(outcome).toMatchObject({ status: 400, code: 'BLOB_UPLOAD_INVALID' });
  });

  it('whose connection ends is refused', async () => {
    const outcome = await receive(drain(), (sent) => sent.write('01234', () => sent.destroy()));
    expect(outcome).toMatchObject({ status: 400, code: 'BLOB_UPLOAD_INVALID' });
  });

  it('that is too large as a whole is refused before it is read', async () => {
    const read = (message: IncomingMessage) => receiveAll(message, 9);
    expect(await receive(read, (sent) => sent.end('0123456789'))).toMatchObject({ status: 413 });
  });
});
