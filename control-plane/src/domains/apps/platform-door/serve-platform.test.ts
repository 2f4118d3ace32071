import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_CONNECTIONS, servePlatform, type PlatformDoor } from './serve-platform.ts';

const doors: PlatformDoor[] = [];
afterEach(() => doors.splice(0).forEach((door) => door.close()));

function openDoor(silenceMs?: number): PlatformDoor {
  const door = servePlatform('http://127.0.0.1:9', () => false, silenceMs);
  doors.push(door);
  return door;
}

function connect(door: PlatformDoor): { client: Duplex; server: Duplex } {
  const [client, server] = duplexPair();
  client.on('error', () => client.destroy());
  door.accept(server);
  return { client, server };
}

const REQUEST = 'GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

describe('the platform as a guest reaches it', () => {
  it('has a limited number of connections; a closed one makes room', async () => {
    const door = openDoor();
    const open = Array.from({ length: MAX_CONNECTIONS }, () => connect(door));
    expect(open.filter(({ server }) => server.destroyed)).toEqual([]);
    expect(connect(door).server.destroyed).toBe(true);
    open[0]!.server.destroy();
    await once(open[0]!.server, 'close');
    const { client } = connect(door);
    client.write(REQUEST);
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('cuts a connection that asks for nothing', async () => {
    const door = openDoor(50);
    const silent = connect(door);
    const slow = connect(door);
    slow.client.write('GET /api/v1/me HTTP/1.1\r\nX-Lo');
    await Promise.all([once(silent.server, 'close'), once(slow.server, 'close')]);
  });

  it('cuts a connection that asks for nothing more after an answer', async () => {
    const { client, server } = connect(openDoor(50));
    client.write(REQUEST);
    await once(client, 'data');
    await once(server, 'close');
  });

  it('survives a connection that breaks, and closes those that are open', async () => {
    const door = openDoor();
    const [broken, open] = [connect(door), connect(door)];
    broken.server.destroy(new Error('reset'));
    await new Promise((resolve) => broken.server.once('close', resolve));
    expect(open.server.destroyed).toBe(false);
    door.close();
    expect(open.server.destroyed).toBe(true);
  });
});
