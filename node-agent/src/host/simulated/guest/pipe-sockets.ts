import type { Duplex } from 'node:stream';

/** Carries bytes both ways. Each direction ends alone, as in TCP; a connection that breaks breaks the other. */
export function pipeSockets(one: Duplex, other: Duplex): void {
  carry(one, other);
  carry(other, one);
  // One of them may have closed while the other was being opened.
  if (one.destroyed || other.destroyed) for (const socket of [one, other]) socket.destroy();
}

function carry(from: Duplex, to: Duplex): void {
  from.on('error', () => undefined);
  from.pipe(to);
  from.once('close', () => {
    // Bytes that it sent before it ended are still being written.
    if (from.readableEnded && !to.writableFinished) to.once('finish', () => to.destroy());
    else to.destroy();
  });
}
