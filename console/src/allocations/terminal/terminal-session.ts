import { ProblemError } from '@gpuaas/sdk/problem';
import { mintTerminalToken } from '../../api/allocations/allocations.ts';

export interface TerminalSize {
  cols: number;
  rows: number;
}

export type TerminalStatus = { is: 'connecting' } | { is: 'ready' } | { is: 'closed'; reason: string };

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

/** One shell over one WebSocket: text frames steer, binary frames are the shell's bytes. */
export function openTerminalSession(options: SessionOptions): TerminalSession {
  const { allocationId, onOutput, onStatus } = options;
  let socket: WebSocket | null = null;
  let size = options.size;
  let over = false;

  const finish = (reason: string) => {
    if (over) return;
    over = true;
    onStatus({ is: 'closed', reason });
    socket?.close();
  };

  const connect = async () => {
    const { token, websocket_path: path } = await mintTerminalToken(allocationId);
    if (over) return;
    socket = new WebSocket(new URL(path, location.origin.replace(/^http/, 'ws')));
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => socket?.send(JSON.stringify({ type: 'auth', token, ...size })));
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data !== 'string') return onOutput(new Uint8Array(data));
      const message: { type: string; reason?: string } = JSON.parse(data);
      if (message.type === 'ready') onStatus({ is: 'ready' });
      if (message.type === 'closed') finish(message.reason ?? 'The shell ended.');
    });
    socket.addEventListener('close', ({ reason }) => finish(reason || 'Connection lost.'));
  };

  onStatus({ is: 'connecting' });
  connect().catch((error: unknown) => {
    finish(error instanceof ProblemError ? error.message : 'Cannot reach the server.');
  });

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
      socket?.close();
    },
  };
}
