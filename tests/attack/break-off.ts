import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** How a connection is broken off once it has said its part. */
export type Manner = 'reset' | 'reset after the answer' | 'answer left unread by a proxy' | 'half closed';
export const MANNERS: Manner[] = [
  'reset',
  'reset after the answer',
  'answer left unread by a proxy',
  'half closed',
];

export interface Stage {
  name: string;
  /** Said first; the rest follows when the other side has answered. */
  says: string | Buffer;
  afterwards?: string | Buffer;
  /** Inside TLS; without it the bytes go out as they are. */
  tls?: ConnectionOptions;
}

/** How long an answer is waited for; many stages get none. */
const PATIENCE_MS = 400;

/** One connection that gets as far as the stage and is then broken off. What happens to this side is of no interest. */
export async function breakOff(port: number, stage: Stage, manner: Manner): Promise<void> {
  const raw = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  raw.on('error', () => raw.destroy());
  const end = AbortSignal.timeout(PATIENCE_MS);
  try {
    await once(raw, 'connect', { signal: end });
    const speaker = stage.tls ? connectTls({ ...stage.tls, socket: raw }) : raw;
    speaker.on('error', () => undefined);
    if (stage.tls) await once(speaker, 'secureConnect', { signal: end });
    const answered = once(speaker, 'data', { signal: end });
    answered.catch(() => undefined);
    speaker.write(stage.says);
    if (stage.afterwards !== undefined) {
      await answered;
      speaker.write(stage.afterwards);
    } else if (manner === 'reset after the answer') await answered;
    if (manner === 'half closed') {
      speaker.end();
      await pause(5);
    }
  } catch {
    // Refused, cut or silent: the connection is broken off all the same.
  } finally {
    raw.resetAndDestroy();
  }
}

/** Passes bytes on, reads no answer, and goes: the kernel tells the server with a reset. */
export async function startCarelessProxy(
  target: number,
): Promise<{ port: number; stop(): Promise<unknown> }> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    upstream.pause();
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.on('data', (chunk) => upstream.write(chunk));
    // Long enough for an answer to lie in the kernel's buffer.
    setTimeout(() => upstream.destroy(), 20);
    upstream.on('close', () => client.destroy());
    client.on('close', () => setTimeout(() => upstream.destroy(), 20));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
