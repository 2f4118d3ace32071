import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { MeteredStream } from '../../../platform/telemetry/stream-metrics.ts';
import type { Shell } from './open-shell.ts';
import { frameBytes, parseClientMessage } from './terminal-messages.ts';
import type { TerminalRecorder } from '../recordings/terminal-recorder.ts';
import { closeWhenUnresponsive } from '../tunnel/close-when-unresponsive.ts';

const HIGH_WATER_BYTES = 512 * 1024;
/** Close codes of a tab that reloads and of a connection that broke; others are a client that has finished. */
const LOST = new Set([1001, 1006]);

export interface TerminalLimits {
  /** Without a byte either way. */
  idleMs: number;
  lastsMs: number;
  /** How long the shell waits for a client whose connection was lost; 0 ends it. */
  reattachMs: number;
}

export interface TerminalEnd {
  reason: string;
  bytesIn: number;
  bytesOut: number;
}

/** Bytes between one browser and one shell, slowed down to the slower of the two. */
export class TerminalSession {
  /** Names the shell to the client that may come back to it. */
  readonly id = randomBytes(16).toString('hex');
  readonly #shell: Shell;
  readonly #metered: MeteredStream;
  readonly #recorder: TerminalRecorder | null;
  readonly #reattachMs: number;
  readonly #idle: NodeJS.Timeout;
  readonly #last: NodeJS.Timeout;
  readonly #onEnd: (end: TerminalEnd) => void;
  #ws: WebSocket;
  #stopPinging: () => void = () => undefined;
  /** Runs while no client is attached. */
  #waiting: NodeJS.Timeout | undefined;
  /** Output that came while no client was attached; the shell is paused meanwhile. */
  #held: Buffer[] = [];
  #bytesIn = 0;
  #bytesOut = 0;
  #ended = false;

  constructor(
    {
      ws,
      shell,
      metered,
      recorder,
      whyClosed,
    }: {
      ws: WebSocket;
      shell: Shell;
      metered: MeteredStream;
      recorder: TerminalRecorder | null;
      whyClosed: () => Promise<string | null>;
    },
    limits: TerminalLimits,
    onEnd: (end: TerminalEnd) => void,
  ) {
    this.#ws = ws;
    this.#shell = shell;
    this.#metered = metered;
    this.#recorder = recorder;
    this.#onEnd = onEnd;
    this.#reattachMs = limits.reattachMs;
    this.#idle = setTimeout(() => this.end('Nothing happened for too long.'), limits.idleMs);
    this.#last = setTimeout(() => this.end('A terminal lasts no longer; open another one.'), limits.lastsMs);
    const { channel } = shell;
    this.#listen(ws, false);
    if (recorder) ws.send(Buffer.from(recorder.notice), { binary: true });
    channel.on('data', (data: Buffer) => this.#toBrowser(data));
    channel.stderr.on('data', (data: Buffer) => this.#toBrowser(data));
    // One listener for all frames: a paused WebSocket still delivers the frames it has already read.
    channel.on('drain', () => ws.resume());
    const lost = async (otherwise: string): Promise<void> =>
      this.end((await whyClosed().catch(() => null)) ?? otherwise);
    channel.on('close', () => void lost('The shell has ended.'));
    channel.on('error', () => void lost('The connection to the machine was lost.'));
  }

  /** Continues with another connection of the same person; the old one, if it still stands, is cut. */
  attach(ws: WebSocket, { cols, rows }: { cols: number; rows: number }): void {
    const { channel } = this.#shell;
    const old = this.#ws;
    clearTimeout(this.#waiting);
    this.#stopPinging();
    this.#ws = ws;
    old.terminate();
    this.#listen(ws, true);
    channel.setWindow(rows, cols, 0, 0);
    this.#recorder?.resize(cols, rows);
    for (const data of this.#held.splice(0)) ws.send(data, { binary: true });
    channel.resume();
    channel.stderr.resume();
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  #listen(ws: WebSocket, resumed: boolean): void {
    this.#stopPinging = closeWhenUnresponsive(ws);
    const resume = this.#reattachMs > 0 ? this.id : null;
    ws.send(JSON.stringify({ type: 'ready', recorded: this.#recorder !== null, resume, resumed }));
    ws.on('message', (data, isBinary) => this.#fromBrowser(frameBytes(data), isBinary));
    ws.on('close', (code) => this.#left(ws, code));
  }

  #left(ws: WebSocket, code: number): void {
    if (this.#ended || ws !== this.#ws) return;
    if (this.#reattachMs === 0 || !LOST.has(code)) return this.end('The browser left.');
    this.#stopPinging();
    this.#shell.channel.pause();
    this.#shell.channel.stderr.pause();
    this.#waiting = setTimeout(() => this.end('The browser left.'), this.#reattachMs);
  }

  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#last);
    clearTimeout(this.#waiting);
    this.#stopPinging();
    if (this.#ws.readyState === this.#ws.OPEN) {
      this.#ws.send(JSON.stringify({ type: 'closed', reason }));
      this.#ws.close(1000);
      // A peer that neither reads nor answers the goodbye is not waited for.
      this.#ws.resume();
    }
    this.#shell.channel.close();
    this.#shell.end();
    this.#metered.close();
    this.#onEnd({ reason, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut });
  }

  #toBrowser(data: Buffer): void {
    if (this.#ended) return;
    const { channel } = this.#shell;
    this.#idle.refresh();
    this.#bytesOut += data.length;
    this.#metered.fromGuest(data.length);
    this.#recorder?.output(data);
    if (this.#ws.readyState !== this.#ws.OPEN) return void this.#held.push(data);
    this.#ws.send(data, { binary: true }, () => {
      if (this.#ws.bufferedAmount < HIGH_WATER_BYTES / 2) channel.resume();
    });
    if (this.#ws.bufferedAmount > HIGH_WATER_BYTES) channel.pause();
  }

  #fromBrowser(data: Buffer, isBinary: boolean): void {
    if (this.#ended) return;
    const { channel } = this.#shell;
    this.#idle.refresh();
    if (!isBinary) {
      const message = parseClientMessage(data);
      if (message?.type === 'resize') {
        channel.setWindow(message.rows, message.cols, 0, 0);
        this.#recorder?.resize(message.cols, message.rows);
      }
      return;
    }
    this.#bytesIn += data.length;
    this.#metered.toGuest(data.length);
    if (!channel.write(data)) this.#ws.pause();
  }
}
