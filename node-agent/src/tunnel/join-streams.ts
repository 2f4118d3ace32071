import { constants, type ServerHttp2Stream } from 'node:http2';
import { Duplex, type Readable } from 'node:stream';

export interface MovedBytes {
  toGuest: number;
  fromGuest: number;
}

/**
 * Each half closes by itself, as TCP does: a client may end its input and still wait for the answer. What the guest only
 * tells (its console) takes no input.
 */
export function joinStreams(stream: ServerHttp2Stream, guest: Duplex | Readable): MovedBytes {
  const moved: MovedBytes = { toGuest: 0, fromGuest: 0 };
  const input = guest instanceof Duplex ? guest : null;
  stream.on('data', (chunk: Buffer) => (moved.toGuest += chunk.length));
  guest.on('data', (chunk: Buffer) => (moved.fromGuest += chunk.length));
  if (input) stream.pipe(input);
  guest.pipe(stream);
  guest.on('error', () => stream.close(constants.NGHTTP2_CONNECT_ERROR));
  guest.once('close', () => {
    stream.end();
    stream.close(constants.NGHTTP2_NO_ERROR);
  });
  // A reset with code 0 does not close a stream that still has something to write; nobody will read it.
  stream.once('aborted', () => {
    guest.destroy();
    stream.destroy();
  });
  stream.once('close', () => {
    // What the client sent before it ended is still on its way into the guest.
    if (input && stream.readableEnded && !input.writableFinished) input.once('finish', () => guest.destroy());
    else guest.destroy();
  });
  return moved;
}
