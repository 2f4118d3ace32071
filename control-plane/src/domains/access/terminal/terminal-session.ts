import type { WebSocket } from 'ws';
import type { MeteredStream } from '../../../platform/telemetry/stream-metrics.ts';
import type { Shell } from './open-shell.ts';
import { frameBytes, parseClientMessage } from './terminal-messages.ts';
import type { TerminalRecorder } from '../recordings/terminal-recorder.ts';
import { closeWhenUnresponsive } from '../tunnel/close-when-unresponsive.ts';

const HIGH_WATER_BYTES = 512 * 1024;

export interface TerminalLimits {
  /** Without a byte either way. */
  idleMs: number;
  lastsMs: number;
}

export interface TerminalEnd {
  reason: string;
  bytesIn: number;
  bytesOut: number;
}

/** Bytes between one browser and one shell, slowed down to the slower of the two. */
export class TerminalSession {
  readonly #ws: WebSocket;
  readonly #shell: Shell;
  readonly #metered: MeteredStream;
  readonly #recorder: TerminalRecorder | null;
  readonly #stopPinging: () => void;
  readonly #idle: NodeJS.Timeout;
  readonly #last: NodeJS.Timeout;
  readonly #onEnd: (end: TerminalEnd) => void;
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
    this.#stopPinging = closeWhenUnresponsive(ws);
    this.#idle = setTimeout(() => this.end('Nothing happened for too long.'), limits.idleMs);
    this.#last = setTimeout(() => this.end('A terminal lasts no longer; open another one.'), limits.lastsMs);
    const { channel } = shell;
    ws.send(JSON.stringify({ type: 'ready', recorded: recorder !== null }));
    if (recorder) ws.send(Buffer.from(recorder.notice), { binary: true });
    channel.on('data', (data: Buffer) => this.#toBrowser(data));
    channel.stderr.on('data', (data: Buffer) => this.#toBrowser(data));
    // One listener for all frames: a paused WebSocket still delivers the frames it has already read.
    channel.on('drain', () => ws.resume());
    const lost = async (otherwise: string): Promise<void> =>
      this.end((await whyClosed().catch(() => null)) ?? otherwise);
    channel.on('close', () => void lost('The shell has ended.'));
    channel.on('error', () => void lost('The connection to the machine was lost.'));
    ws.on('message', (data, isBinary) => this.#fromBrowser(frameBytes(data), isBinary));
    ws.on('close', () => this.end('The browser left.'));
  }

  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#last);
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
