import type { Duplex } from 'node:stream';

/** What is used of a `ws` WebSocket. */
export interface ByteSocket {
  readonly bufferedAmount: number;
  send(data: Buffer | string, done?: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'close' | 'error', listener: () => void): unknown;
}

export interface JoinOptions {
  /** Ends both when nothing moved for so long; never when left out. */
  idleMs?: number;
  onSent?: (bytes: number) => void;
  onReceived?: (bytes: number) => void;
  onClose?: (moved: { sent: number; received: number }) => void;
}

const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 256 * 1024;
/** A WebSocket has no half-close, so its sender says when no more bytes will come. */
const END = 'end';

/** Bytes between a WebSocket and a stream, each held back to what the other takes: binary frames, then the text `end`. */
export function joinSocket(socket: ByteSocket, stream: Duplex, options: JoinOptions = {}): void {
  let [sent, received] = [0, 0];
  let [sentEnd, receivedEnd, closed] = [false, false, false];
  const idle = options.idleMs === undefined ? null : setTimeout(() => cut(), options.idleMs);
  const cut = (): void => {
    socket.terminate();
    stream.destroy();
  };
  const finish = (): void => {
    if (sentEnd && receivedEnd) socket.close(1000);
  };
  socket.on('message', (data, isBinary) => {
    idle?.refresh();
    if (!isBinary) {
      if (data.toString() !== END) return cut();
      receivedEnd = true;
      stream.end();
      return finish();
    }
    received += data.length;
    options.onReceived?.(data.length);
    if (stream.write(data)) return;
    socket.pause();
    stream.once('drain', () => socket.resume());
  });
  stream.on('data', (chunk: Buffer) => {
    idle?.refresh();
    sent += chunk.length;
    options.onSent?.(chunk.length);
    socket.send(chunk, () => {
      if (socket.bufferedAmount < LOW_WATER_BYTES) stream.resume();
    });
    if (socket.bufferedAmount > HIGH_WATER_BYTES) stream.pause();
  });
  stream.on('end', () => {
    sentEnd = true;
    socket.send(END, () => undefined);
    finish();
  });
  stream.on('error', () => stream.destroy());
  // What was sent before the end still arrives: a close waits its turn behind it.
  stream.on('close', () => {
    socket.resume();
    socket.close(1000);
  });
  socket.on('error', cut);
  socket.on('close', () => {
    if (closed) return;
    closed = true;
    if (idle) clearTimeout(idle);
    // What was received to its end is still written out; nothing else of the stream is wanted any more.
    if (receivedEnd && !stream.writableFinished && !stream.destroyed)
      stream.once('finish', () => stream.destroy());
    else stream.destroy();
    options.onClose?.({ sent, received });
  });
  // Either may have been held back until somebody listens, so that nothing of it was lost.
  socket.resume();
  stream.resume();
}
