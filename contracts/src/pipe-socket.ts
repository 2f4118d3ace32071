import type { Duplex } from 'node:stream';

/** The part of a `ws` WebSocket that is used. */
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
  /** Closes both after this time without traffic; never when left out. */
  idleMs?: number;
  onSent?: (bytes: number) => void;
  onReceived?: (bytes: number) => void;
  onClose?: (moved: { sent: number; received: number }) => void;
}

const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 256 * 1024;
/** A WebSocket has no half-close, so its sender announces the end of its bytes. */
const END = 'end';

/** Pipes bytes between a WebSocket and a stream with back-pressure: binary frames, then the text `end`. */
export function pipeSocket(socket: ByteSocket, stream: Duplex, options: JoinOptions = {}): void {
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
    if (!stream.write(data)) socket.pause();
  });
  // One listener for all frames: a paused WebSocket still delivers the frames it has already read.
  stream.on('drain', () => socket.resume());
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
  // Data sent before the end still arrives: a close is queued behind it.
  stream.on('close', () => {
    socket.resume();
    socket.close(1000);
  });
  socket.on('error', cut);
  socket.on('close', () => {
    if (closed) return;
    closed = true;
    if (idle) clearTimeout(idle);
    // Completely received data is still written out; the rest of the stream is discarded.
    if (receivedEnd && !stream.writableFinished && !stream.destroyed)
      stream.once('finish', () => stream.destroy());
    else stream.destroy();
    options.onClose?.({ sent, received });
  });
  // Either may have been paused until a listener was attached.
  socket.resume();
  stream.resume();
}
