import type { RawData } from 'ws';
import { isRecord } from '@gpuaas/contracts/is-record';

export interface AuthMessage {
  type: 'auth';
  token: string;
  cols: number;
  rows: number;
  /** The shell waits for the client if the connection is lost. */
  keep: boolean;
  /** A shell that waits for this client; a new one opens if it is gone. */
  resume: string | null;
}

export interface ResizeMessage {
  type: 'resize';
  cols: number;
  rows: number;
}

/** Text frames carry control messages, binary frames the terminal's bytes. Null for an unknown message. */
export function parseClientMessage(data: Buffer): AuthMessage | ResizeMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const { type, token, cols, rows, keep, resume } = value;
  if (!isSize(cols) || !isSize(rows)) return null;
  if (type === 'auth' && typeof token === 'string' && token.length <= 200)
    return {
      type,
      token,
      cols,
      rows,
      keep: keep === true,
      resume: typeof resume === 'string' ? resume : null,
    };
  if (type === 'resize') return { type, cols, rows };
  return null;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1000;
}

/** The bytes of a frame, however the socket hands them over. */
export function frameBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
