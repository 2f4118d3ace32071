import type { WebSocket } from 'ws';
import type { Shell } from './open-shell.ts';
import { parseClientMessage } from './terminal-messages.ts';

const HIGH_WATER_BYTES = 512 * 1024;

/** Bytes between one browser and one shell, slowed down to the slower of the two. */
export class TerminalSession {
  readonly #ws: WebSocket;
  readonly #shell: Shell;
  #ended = false;
  #onEnd: () => void = () => undefined;

  constructor(ws: WebSocket, shell: Shell) {
    this.#ws = ws;
    this.#shell = shell;
    const { channel } = shell;
    ws.send(JSON.stringify({ type: 'ready' }));
    channel.on('data', (data: Buffer) => this.#toBrowser(data));
    channel.stderr.on('data', (data: Buffer) => this.#toBrowser(data));
    channel.on('close', () => this.end('The shell has ended.'));
    channel.on('error', () => this.end('The connection to the machine was lost.'));
    ws.on('message', (data, isBinary) => this.#fromBrowser(data as Buffer, isBinary));
    ws.on('close', () => this.end('The browser left.'));
  }

  onEnd(callback: () => void): void {
    this.#onEnd = callback;
  }

  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#ws.readyState === this.#ws.OPEN) {
      this.#ws.send(JSON.stringify({ type: 'closed', reason }));
      this.#ws.close(1000);
    }
    this.#shell.channel.close();
    this.#shell.end();
    this.#onEnd();
  }

  #toBrowser(data: Buffer): void {
    const { channel } = this.#shell;
    this.#ws.send(data, { binary: true }, () => {
      if (this.#ws.bufferedAmount < HIGH_WATER_BYTES / 2) channel.resume();
    });
    if (this.#ws.bufferedAmount > HIGH_WATER_BYTES) channel.pause();
  }

  #fromBrowser(data: Buffer, isBinary: boolean): void {
    const { channel } = this.#shell;
    if (!isBinary) {
      const message = parseClientMessage(data);
      if (message?.type === 'resize') channel.setWindow(message.rows, message.cols, 0, 0);
      return;
    }
    if (channel.write(data)) return;
    this.#ws.pause();
    channel.once('drain', () => this.#ws.resume());
  }
}
