import { constants, type ServerHttp2Stream } from 'node:http2';
import { Duplex, type Readable } from 'node:stream';

export interface ByteCounts {
  toGuest: number;
  fromGuest: number;
}

/**
 * Each half closes separately, as in TCP: a client may end its input and still wait for the reply. A console
 * is output only.
 */
export function pipeStreams(stream: ServerHttp2Stream, guest: Duplex | Readable): ByteCounts {
  const moved: ByteCounts = { toGuest: 0, fromGuest: 0 };
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
  // A reset with code 0 does not close a stream with unwritten data; no reader is left.
  stream.once('aborted', () => {
    guest.destroy();
    stream.destroy();
  });
  stream.once('close', () => {
    // Bytes that the client sent before it ended are still being written to the guest.
    if (input && stream.readableEnded && !input.writableFinished) input.once('finish', () => guest.destroy());
    else guest.destroy();
  });
  return moved;
}
