import type { WebSocket } from 'ws';
import type { KernelMessage } from '../wire/kernel-message.ts';

interface Listener {
  socket: WebSocket;
  encode(message: KernelMessage): string | Buffer;
  /** Stays the same when a client connects again. */
  client: string;
}

const MAX_KEPT = 2000;
const MAX_KEPT_BYTES = 8_388_608;
const BEHIND_BYTES = 4_194_304;
const MAX_BEHIND_MS = 30_000;

/**
 * The clients of one kernel. While none is connected, messages are kept for the one that left last; another client does
 * not get them.
 */
export class Audience {
  readonly #listeners = new Set<Listener>();
  #kept: { client: string; messages: { message: KernelMessage; bytes: number }[]; bytes: number } | null =
    null;
  #behindSince: number | null = null;

  get size(): number {
    return this.#listeners.size;
  }

  /** True while a client reads slower than the kernel writes. A client that does so for 30 seconds is cut off. */
  get isBehind(): boolean {
    const slow = [...this.#listeners].filter(({ socket }) => socket.bufferedAmount > BEHIND_BYTES);
    if (slow.length === 0) {
      this.#behindSince = null;
      return false;
    }
    this.#behindSince ??= performance.now();
    if (performance.now() - this.#behindSince < MAX_BEHIND_MS) return true;
    for (const { socket } of slow) socket.terminate();
    return false;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
    const kept = this.#kept;
    this.#kept = null;
    if (kept?.client === listener.client) for (const { message } of kept.messages) sendTo(listener, message);
    listener.socket.on('close', () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#kept = { client: listener.client, messages: [], bytes: 0 };
    });
  }

  /** To all, or to one client alone. */
  send(message: KernelMessage, client: string | null): void {
    for (const listener of this.#listeners)
      if (client === null || listener.client === client) sendTo(listener, message);
    const kept = this.#kept;
    if (!kept || (client !== null && client !== kept.client)) return;
    const bytes = JSON.stringify(message.content).length;
    kept.messages.push({ message, bytes });
    kept.bytes += bytes;
    while (kept.messages.length > MAX_KEPT || kept.bytes > MAX_KEPT_BYTES)
      kept.bytes -= kept.messages.shift()?.bytes ?? 0;
  }

  close(): void {
    for (const { socket } of this.#listeners) socket.close(1000, 'the kernel was shut down');
  }
}

function sendTo({ socket, encode }: Listener, message: KernelMessage): void {
  if (socket.readyState === socket.OPEN) socket.send(encode(message), () => undefined);
}
