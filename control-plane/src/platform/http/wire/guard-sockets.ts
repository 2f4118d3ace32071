import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Gives every socket of a listener an error handler for its whole life. Node removes its own handler at an
 * upgrade, and an unhandled error would end the process.
 */
export function guardSockets(server: Server): void {
  const guard = (socket: Duplex): void => void socket.on('error', () => socket.destroy());
  server.on('connection', guard);
  server.on('secureConnection', guard);
}
