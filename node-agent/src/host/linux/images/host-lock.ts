import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { sleep } from '../../../backoff.ts';
import { isErrno } from '../../../durable-file.ts';

/** Pause between a claim that ended and the next attempt. */
const AGAIN_MS = 50;

/**
 * Runs work that only one process of this host may do at a time; other processes wait. The lock is an
 * abstract socket and no file: it ends with the process that holds it, however that ends, and waiting
 * processes notice.
 */
export async function withHostLock<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return await work();
  const address = `\0gpuaas-${createHash('sha256').update(what).digest('hex')}`;
  for (;;) {
    signal.throwIfAborted();
    const claim = await take(address);
    if (claim) {
      try {
        return await work();
      } finally {
        claim.end();
      }
    }
    await untilEnded(address, signal);
  }
}

async function take(address: string): Promise<{ end(): void } | null> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => waiting.delete(socket));
  });
  server.listen(address);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (isErrno(error, 'EADDRINUSE')) return null;
    throw error;
  }
  return {
    end() {
      server.close();
      for (const socket of waiting) socket.destroy();
    },
  };
}

async function untilEnded(address: string, signal: AbortSignal): Promise<void> {
  const socket = connect(address);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop);
  // A holder that is killed resets the connection: an end like any other. `once` of node:events would fail on it.
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  signal.removeEventListener('abort', stop);
  await sleep(AGAIN_MS, signal);
}
