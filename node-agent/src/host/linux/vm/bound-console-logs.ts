import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A guest writes to its serial console without end; the disk of its host must not fill up with it. */
const MAX_BYTES = 8 * 1024 * 1024;
/** As much as readers are shown. */
const KEPT_BYTES = 1024 * 1024;

/** Shortens the console logs of all machines that have grown too long. */
export async function boundConsoleLogs(dir: string): Promise<void> {
  const machines = await readdir(join(dir, 'slices')).catch(() => []);
  await Promise.all(machines.map((id) => boundConsoleLog(join(dir, 'slices', id, 'console.log'))));
}

/**
 * Leaves the end of a log that is too long. The hypervisor has the file open for appending and goes on at its new end;
 * what it writes in the same moment may be lost.
 */
async function boundConsoleLog(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(() => null);
  if (!file) return;
  try {
    const { size } = await file.stat();
    if (size <= MAX_BYTES) return;
    const kept = Buffer.alloc(KEPT_BYTES);
    const { bytesRead } = await file.read(kept, 0, KEPT_BYTES, size - KEPT_BYTES);
    await file.truncate(0);
    await file.write(kept, 0, bytesRead, 0);
  } finally {
    await file.close();
  }
}
