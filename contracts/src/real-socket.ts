import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

/**
 * Two ends of one kernel socket. The folder is closed to other users, so no other process can be the other
 * end.
 */
async function socketPair(): Promise<[Socket, Socket]> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-pair-'));
  const server = createServer({ allowHalfOpen: false });
  try {
    const path = join(folder, 's');
    server.listen(path);
    await once(server, 'listening');
    const near = connect(path);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    await once(near, 'connect');
    const [far] = await accepted;
    return [near, far];
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A kernel socket in front of a stream that exists only in JavaScript. Node's HTTP/2 on such a stream dies by
 * an internal assertion when it ends or under load (nodejs/node#35384), which would take the process with it.
 */
export async function toRealSocket(connection: Duplex): Promise<Socket> {
  const [near, far] = await socketPair();
  const cut = (): void => {
    connection.destroy();
    near.destroy();
    far.destroy();
  };
  for (const end of [connection, near, far]) {
    end.on('error', cut);
    end.on('close', cut);
  }
  connection.pipe(far);
  far.pipe(connection);
  if (connection.destroyed) cut();
  return near;
}
