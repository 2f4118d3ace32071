import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { pipeSocket } from './pipe-socket.ts';

/** A WebSocket that has read many frames from the network: pausing it does not hold those back. */
class BusySocket extends EventEmitter {
  readonly bufferedAmount = 0;
  paused = false;
  send(): void {}
  close(): void {}
  terminate(): void {}
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

it('adds no listener per frame while the stream cannot take more, and goes on when it can', async () => {
  const socket = new BusySocket();
  let written = 0;
  const waiting: (() => void)[] = [];
  const stream = new Duplex({
    highWaterMark: 10,
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      written += chunk.length;
      waiting.push(() => done());
    },
  });
  pipeSocket(socket, stream);
  const before = stream.listenerCount('drain');
  for (let frame = 0; frame < 50; frame += 1) socket.emit('message', Buffer.alloc(100), true);
  expect(socket.paused).toBe(true);
  expect(stream.listenerCount('drain')).toBe(before);
  while (waiting.length > 0) {
    waiting.shift()?.();
    await new Promise(setImmediate);
  }
  expect(written).toBe(5_000);
  expect(socket.paused).toBe(false);
});
