import type { FileHandle } from 'node:fs/promises';
import { open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

const ROTATE_AT_BYTES = 16 * 1024 * 1024;

export type ServerLog = { file: FileHandle; path: string; startedAt: number };

/** Opens the log for appending; we open it so that the service user needs no right to it. */
export async function openServerLog(dataDir: string): Promise<ServerLog> {
  const path = join(dataDir, 'postgres.log');
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > ROTATE_AT_BYTES) await rename(path, `${path}.1`);
  const file = await open(path, 'a', 0o600);
  return { file, path, startedAt: (await file.stat()).size };
}

/** The last lines that the server wrote since this log was opened. */
export async function lastLogLines(log: ServerLog, count = 12): Promise<string> {
  const file = await open(log.path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(log.startedAt, size - 64 * 1024);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
    return buffer.subarray(0, bytesRead).toString().trimEnd().split('\n').slice(-count).join('\n');
  } finally {
    await file.close();
  }
}
