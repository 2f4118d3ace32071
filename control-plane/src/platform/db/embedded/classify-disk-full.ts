import { statfs } from 'node:fs/promises';
import { EmbeddedPostgresError, errorCode } from './errors.ts';

/** The system's message, and the one that Postgres adds after a partial write. */
const FULL = /No space left on device|Disk quota exceeded|Check free disk space/;
/**
 * Less than one file of the write-ahead log: a server that did not start with so little space failed because
 * of it.
 */
const NEXT_TO_NOTHING = 16 * 1024 * 1024;
const NEEDED = '100 MB';

/**
 * Returns the failure as `disk_full` if that was the cause. The server's own log may have had no space to say
 * so.
 */
export async function classifyDiskFull(error: unknown, folders: readonly string[]): Promise<unknown> {
  const full = saysDiskFull(error) ? folders[0] : await firstFull(folders);
  if (full === undefined) return error;
  return new EmbeddedPostgresError(
    'disk_full',
    `There is no space left for the database on the disk of ${full}. ` +
      `Free at least ${NEEDED} there, or choose another data folder with GPUAAS_DATA_DIR; nothing was lost.`,
    { cause: error },
  );
}

function saysDiskFull(error: unknown): boolean {
  if (['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) return true;
  return (
    error instanceof Error && (FULL.test(error.message) || (error.cause ? saysDiskFull(error.cause) : false))
  );
}

async function firstFull(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const disk = await statfs(folder).catch(() => undefined);
    if (disk && disk.bavail * disk.bsize < NEXT_TO_NOTHING) return folder;
  }
  return undefined;
}
