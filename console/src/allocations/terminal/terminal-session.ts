import { ProblemError } from '@gpuaas/sdk/problem';
import { mintTerminalToken } from '../../api/allocations/allocations.ts';
import { forgetShell, keptShell, keepShell } from './kept-shells.ts';

export interface TerminalSize {
  cols: number;
  rows: number;
}

export type TerminalStatus =
  | { is: 'connecting' }
  /** `fresh`: another shell than before the connection was lost. */
  | { is: 'ready'; fresh: boolean }
  | { is: 'lost' }
  | { is: 'closed'; reason: string };

interface SessionOptions {
  allocationId: string;
  size: TerminalSize;
  onOutput: (bytes: Uint8Array) => void;
  onStatus: (status: TerminalStatus) => void;
}

export interface TerminalSession {
  send: (bytes: Uint8Array<ArrayBuffer>) => void;
  resize: (size: TerminalSize) => void;
  close: () => void;
}

const RETRY_MS = 2_000;
const NORMAL = 1000;

/**
 * One shell: text frames steer, binary frames are its bytes. A lost connection is opened again and continues with the same
 * shell while the server keeps it.
 */
export function openTerminalSession(options: SessionOptions): TerminalSession {
  const { allocationId, onOutput, onStatus } = options;
  let socket: WebSocket | null = null;
  let size = options.size;
  let over = false;
  let wasReady = false;

  const finish = (reason: string) => {
    if (over) return;
    over = true;
    forgetShell(allocationId);
    onStatus({ is: 'closed', reason });
    socket?.close();
  };

  const retry = () => {
    if (over) return;
    onStatus({ is: 'lost' });
    setTimeout(() => void connect(), RETRY_MS);
  };

  const onMessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
    if (typeof data !== 'string') return onOutput(new Uint8Array(data));
    const message: { type: string; reason?: string; resume?: string | null; resumed?: boolean } =
      JSON.parse(data);
    if (message.type === 'closed') finish(message.reason ?? 'The shell ended.');
    if (message.type !== 'ready') return;
    if (message.resume) keepShell(allocationId, message.resume);
    onStatus({ is: 'ready', fresh: wasReady && !message.resumed });
    wasReady = true;
  };

  const connect = async () => {
    if (over) return;
    try {
      const { token, websocket_path: path } = await mintTerminalToken(allocationId);
      if (over) return;
      const opened = new WebSocket(new URL(path, location.origin.replace(/^http/, 'ws')));
      socket = opened;
      opened.binaryType = 'arraybuffer';
      opened.addEventListener('open', () =>
        opened.send(
          JSON.stringify({ type: 'auth', token, keep: true, resume: keptShell(allocationId), ...size }),
        ),
      );
      opened.addEventListener('message', onMessage);
      opened.addEventListener('close', ({ code, reason }) => {
        if (code === NORMAL || reason) finish(reason || 'The shell ended.');
        else retry();
      });
    } catch (error) {
      // A refusal is final; a server that does not answer may come back.
      if (error instanceof ProblemError) finish(error.message);
      else retry();
    }
  };

  onStatus({ is: 'connecting' });
  void connect();

  const isOpen = () => socket?.readyState === WebSocket.OPEN;
  return {
    send: (bytes) => {
      if (isOpen()) socket?.send(bytes);
    },
    resize: (next) => {
      size = next;
      if (isOpen()) socket?.send(JSON.stringify({ type: 'resize', ...next }));
    },
    close: () => {
      over = true;
      forgetShell(allocationId);
      socket?.close(NORMAL);
    },
  };
}
