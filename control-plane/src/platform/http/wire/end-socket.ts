import type { Duplex } from 'node:stream';

/** How long a client may take to read the last response and disconnect. */
const LINGER_MS = 5_000;

/**
 * Sends a last response and closes the connection. Nothing reads a socket after an upgrade, so its end would
 * never be noticed: further bytes are discarded, and a client that stays is disconnected.
 */
export function endSocket(socket: Duplex, answer: string, lingerMs = LINGER_MS): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.end(answer);
  socket.resume();
}
